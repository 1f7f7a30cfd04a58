--- The server's life: one for all buffers, started with the first, started again when it died.

local client_of = require('specls.client')
local executable = require('specls.executable')
local messages = require('specls.messages')
local rpc = require('specls.rpc')
local status = require('specls.status')

local M = {}

local PATIENCE_MS = 3000
local FIRST_WAIT_MS, ATTEMPTS = 1000, 5
local LASTING_MS = 180000

---@type specls.Config
local config
---@type table<string, any>  an object for the server, also when it's empty
local settings = vim.empty_dict()
---@type table<integer, true>  the clients that are to end
local leaving = {}
local failures, started_at = 0, 0

--- Whether suggestions may be wanted in a buffer at all.
---@param bufnr integer
---@return boolean
local function suitable(bufnr)
  local filetype = vim.bo[bufnr].filetype
  local wanted = config.filetypes[filetype]
  if wanted == nil then
    wanted = config.filetypes['*']
  end
  return wanted == true
    and filetype ~= ''
    and vim.api.nvim_buf_is_loaded(bufnr)
    and vim.api.nvim_buf_get_name(bufnr) ~= ''
    and vim.bo[bufnr].buftype == ''
    and vim.bo[bufnr].modifiable
end

local function attach_all()
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    M.attach(bufnr)
  end
end

--- The server died: start it again, later each time, and not for ever.
local function revive()
  if vim.uv.now() - started_at > LASTING_MS then
    failures = 0
  end
  failures = failures + 1
  if failures > ATTEMPTS then
    status.set('error', 'The server keeps ending.')
    messages.once(
      'specls: the server keeps ending; see :Specls log, and :Specls restart.',
      vim.log.levels.ERROR
    )
    return
  end
  status.set('starting')
  vim.defer_fn(attach_all, math.floor(FIRST_WAIT_MS * 2 ^ (failures - 1)))
end

---@param client_id integer
local function ended(client_id)
  if leaving[client_id] then
    leaving[client_id] = nil
    status.set('none')
  elseif vim.v.exiting == vim.NIL then
    require('specls.inline').hide()
    revive()
  end
end

--- Tell the server of another workspace.
---@param client table
---@param root? string
local function add_folder(client, root)
  local folders = client.workspace_folders or {}
  for _, folder in ipairs(folders) do
    if folder.name == root then
      return
    end
  end
  if root and client.initialized then
    local folder = { name = root, uri = vim.uri_from_fname(root) }
    table.insert(folders, folder)
    client.workspace_folders = folders
    rpc.notify(client, 'workspace/didChangeWorkspaceFolders', {
      event = { added = { folder }, removed = {} },
    })
  end
end

--- Whether a client is ours and lives.
---@param client table
---@return boolean
local function reusable(client)
  return client.name == rpc.NAME and not leaving[client.id] and not rpc.stopped(client)
end

--- Attach the server to a buffer where suggestions may be wanted; start it if it doesn't run.
---@param bufnr integer
function M.attach(bufnr)
  if not suitable(bufnr) then
    return
  end
  local command = executable.command(config)
  if not command then
    status.set('error', 'The server isn’t found.')
    messages.once('specls isn’t found. ' .. executable.HOW_TO, vim.log.levels.WARN)
    return
  end
  local root = vim.fs.root(bufnr, config.root_markers)
  if #vim.lsp.get_clients({ name = rpc.NAME }) == 0 then
    started_at = vim.uv.now()
    status.set('starting')
  end
  local id = vim.lsp.start(client_of.config(config, settings, command, root, ended), {
    bufnr = bufnr,
    reuse_client = reusable,
  })
  local client = id and vim.lsp.get_client_by_id(id)
  if client then
    add_folder(client, root)
  end
end

---@type string?
local focused

--- Tell the server which document somebody looks at.
---@param bufnr integer
function M.focus(bufnr)
  local client = rpc.client(bufnr)
  local uri = vim.uri_from_bufnr(bufnr)
  if client and focused ~= client.id .. uri then
    focused = client.id .. uri
    local document = { uri = uri }
    rpc.notify(client, 'textDocument/didFocus', { textDocument = document })
  end
end

--- End the server; `after` runs when it's gone.
---@param after? fun()
function M.stop(after)
  local clients = vim.lsp.get_clients({ name = rpc.NAME })
  for _, client in ipairs(clients) do
    leaving[client.id] = true
    rpc.stop(client)
  end
  local waited = 0
  local function gone()
    if #vim.lsp.get_clients({ name = rpc.NAME }) == 0 then
      if after then
        after()
      end
      return
    end
    waited = waited + 50
    if waited == PATIENCE_MS then
      for _, client in ipairs(clients) do
        rpc.stop(client, true)
      end
    end
    vim.defer_fn(gone, 50)
  end
  gone()
end

--- End the server and start it anew.
function M.restart()
  failures = 0
  messages.forget()
  M.stop(attach_all)
end

--- Lay these over the settings, here and in the running server.
---@param changes table<string, any>
function M.configure(changes)
  settings = vim.tbl_extend('force', settings, changes)
  local client = rpc.client()
  if client then
    client.settings = { specls = settings }
    rpc.notify(client, 'workspace/didChangeConfiguration', { settings = client.settings })
  end
end

--- Have the server do nothing where nothing is wanted of it.
---@param scope specls.Scope  of a buffer it isn't told: other buffers may be like it
---@param on boolean
function M.switch(scope, on)
  if scope == 'global' then
    M.configure({ enabled = on })
  elseif scope == 'language' then
    local language = client_of.language(vim.bo.filetype)
    M.configure({ enable = vim.tbl_extend('force', settings.enable or {}, { [language] = on }) })
  end
end

--- The settings that the server was told.
---@return table<string, any>
function M.settings()
  return settings
end

---@param options specls.Config
---@param group integer  of autocommands
function M.setup(options, group)
  config, settings = options, vim.tbl_extend('force', vim.empty_dict(), options.settings)
  local on = vim.api.nvim_create_autocmd
  on({ 'FileType', 'BufFilePost' }, {
    group = group,
    callback = function(event)
      M.attach(event.buf)
    end,
  })
  on({ 'BufEnter', 'LspAttach' }, {
    group = group,
    callback = function(event)
      if event.buf == vim.api.nvim_get_current_buf() then
        M.focus(event.buf)
      end
    end,
  })
  attach_all()
end

return M
