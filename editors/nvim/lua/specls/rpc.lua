--- Talking with the server, in whichever way this Neovim does: 0.11 made functions methods.

local M = {}

local modern = vim.fn.has('nvim-0.11') == 1

M.NAME = 'specls'

---@alias specls.Answer fun(err: table?, result: any)

---@param client table
---@param name string
---@param ... any
local function call(client, name, ...)
  if modern then
    return client[name](client, ...)
  end
  return client[name](...)
end

--- The client of a buffer, or of any, once it may be talked to.
---@param bufnr? integer
---@return table?
function M.client(bufnr)
  for _, client in ipairs(vim.lsp.get_clients({ name = M.NAME, bufnr = bufnr })) do
    if client.initialized and not M.stopped(client) then
      return client
    end
  end
end

--- Ask; the answer comes later.
---@param client table
---@param method string
---@param params table
---@param answer specls.Answer
---@param bufnr? integer
---@return integer? id  to cancel it with
function M.request(client, method, params, answer, bufnr)
  local ok, id = call(client, 'request', method, params, answer, bufnr or 0)
  return ok and id or nil
end

---@param client table
---@param method string
---@param params table
function M.notify(client, method, params)
  call(client, 'notify', method, params)
end

--- Take a request back. It's answered all the same, with an error that says so.
---@param client_id integer
---@param id integer
function M.cancel(client_id, id)
  local client = vim.lsp.get_client_by_id(client_id)
  if client and client.requests[id] then
    call(client, 'cancel_request', id)
  end
end

--- Run one of the server's commands.
---@param client table
---@param command table  an LSP Command
function M.execute(client, command)
  local params = { command = command.command, arguments = command.arguments }
  M.request(client, 'workspace/executeCommand', params, function() end)
end

---@param client table
---@return boolean
function M.stopped(client)
  return call(client, 'is_stopped')
end

---@param client table
---@param force? boolean
function M.stop(client, force)
  call(client, 'stop', force)
end

return M
