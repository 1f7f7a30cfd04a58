--- A language server in this process: notes what it's told, and answers when a test says so.

local M = {}

---@class specls.Stub
---@field sent table[]     requests and notifications, in order: `{ method, params }`
---@field waiting table[]  inline completions that have no answer yet: `{ params, answer, id }`
---@field instant? fun(params: table): table[]?  items to answer with at once
---@field encoding string
---@field deaf? boolean    it was about to answer when it's told that nobody wants to know
---@field starts integer
---@field dispatchers? table
local Stub = {}
Stub.__index = Stub

---@return specls.Stub
function M.new()
  local fields = { sent = {}, waiting = {}, encoding = 'utf-16', starts = 0 }
  return setmetatable(fields, Stub)
end

---@private
---@param method string
---@param params table
---@param answer fun(err: any, result: any)
function Stub:_ask(method, params, answer, id)
  if method == 'initialize' then
    local capabilities = {
      positionEncoding = self.encoding,
      inlineCompletionProvider = {},
      textDocumentSync = { openClose = true, change = 2 },
    }
    vim.schedule(function()
      answer(nil, { capabilities = capabilities })
    end)
  elseif method == 'textDocument/inlineCompletion' then
    local items = self.instant and self.instant(params)
    if items then
      vim.schedule(function()
        answer(nil, { items = items })
      end)
    else
      table.insert(self.waiting, { params = params, answer = answer, id = id })
    end
  else
    vim.schedule(function()
      answer(nil, vim.NIL)
    end)
  end
end

---@private
---@param id integer
function Stub:_cancel(id)
  for index, request in ipairs(self.waiting) do
    if request.id == id then
      table.remove(self.waiting, index)
      vim.schedule(function()
        request.answer({ code = -32800, message = 'cancelled' })
      end)
      return
    end
  end
end

--- What `cmd` is in a client's configuration.
---@return fun(dispatchers: table): table
function Stub:cmd()
  return function(dispatchers)
    local last, closing = 0, false
    self.starts, self.dispatchers = self.starts + 1, dispatchers
    local function close()
      if not closing then
        closing = true
        dispatchers.on_exit(0, 0)
      end
    end
    return {
      request = function(method, params, answer, sent)
        last = last + 1
        local id = last
        table.insert(self.sent, { method = method, params = params, id = id })
        self:_ask(method, params, function(...)
          if sent then
            sent(id)
          end
          answer(...)
        end, id)
        return true, id
      end,
      notify = function(method, params)
        table.insert(self.sent, { method = method, params = params })
        if method == 'exit' then
          close()
        elseif method == '$/cancelRequest' and not self.deaf then
          self:_cancel(params.id)
        end
        return true
      end,
      is_closing = function()
        return closing
      end,
      terminate = close,
    }
  end
end

--- The parameters of all messages of a method.
---@param method string
---@return table[]
function Stub:told(method)
  local found = {}
  for _, message in ipairs(self.sent) do
    if message.method == method then
      table.insert(found, message.params or {})
    end
  end
  return found
end

--- Answer the oldest request that waits.
---@param items table[]
function Stub:answer(items)
  table.remove(self.waiting, 1).answer(nil, { items = items })
end

--- Tell the client something.
---@param method string
---@param params table
function Stub:notify(method, params)
  self.dispatchers.notification(method, params)
end

--- The server dies.
function Stub:die()
  self.dispatchers.on_exit(1, 9)
end

return M
