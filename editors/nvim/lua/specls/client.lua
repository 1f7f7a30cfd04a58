--- What Neovim is told of the server, and the server of Neovim.

local messages = require('specls.messages')
local rpc = require('specls.rpc')
local status = require('specls.status')

local M = {}

--- Filetypes that the protocol calls something else.
local LANGUAGES = { cs = 'csharp', sh = 'shellscript', tex = 'latex', text = 'plaintext' }

--- The protocol's name of a language.
---@param filetype string
---@return string
function M.language(filetype)
  return LANGUAGES[filetype] or filetype
end

---@return table
local function capabilities()
  local all = vim.lsp.protocol.make_client_capabilities() ---@type table
  all.textDocument.inlineCompletion = { dynamicRegistration = false }
  all.experimental = { specls = { status = true } }
  return all
end

local levels = { vim.log.levels.ERROR, vim.log.levels.WARN, vim.log.levels.INFO }

local MISSING =
  '^specls: %S+ isn.t on this machine yet%. `specls (models pull [^`]+)` fetches it%.$'

--- What is to be done, in words that work here; what everybody meets first in words that need no
--- more than a line, for a longer message has to be confirmed.
---@param message string
---@return string
local function in_here(message)
  local pull = message:match(MISSING)
  if pull then
    return 'specls: the model isn’t here yet. :Specls ' .. pull
  end
  return (message:gsub('`specls (models pull [^`]+)`', '`:Specls %1`'))
end

--- Start a program. Neovim isn't told how it ended: it would have the user confirm a message, and
--- the server is started again anyway.
---@param command string[]
---@return fun(dispatchers: table): table
local function quietly(command)
  return function(dispatchers)
    local ours = vim.tbl_extend('force', dispatchers, {
      on_exit = function()
        dispatchers.on_exit(0, 0)
      end,
    })
    return vim.lsp.rpc.start(command, ours)
  end
end

---@type table<string, fun(err: any, params: table, context: table): any>
local handlers = {
  ['$/progress'] = function(err, params, context)
    if not require('specls.asking').early(params.token, params.value) then
      vim.lsp.handlers['$/progress'](err, params, context)
    end
  end,
  ['specls/status'] = function(_, params)
    status.receive(params)
  end,
  ['window/showMessage'] = function(_, params)
    messages.once(in_here(params.message), levels[params.type] or vim.log.levels.INFO)
  end,
}

--- The description that `vim.lsp.start` takes.
---@param config specls.Config
---@param settings table<string, any>
---@param command string[]|fun(dispatchers: table): table
---@param root? string
---@param ended fun(client_id: integer)  called when the server is gone
---@return vim.lsp.ClientConfig
function M.config(config, settings, command, root, ended)
  return {
    name = rpc.NAME,
    cmd = type(command) == 'table' and quietly(command) or command,
    root_dir = root,
    capabilities = capabilities(),
    init_options = settings,
    settings = { specls = settings },
    handlers = handlers,
    get_language_id = function(_, filetype)
      return M.language(filetype)
    end,
    on_init = function(client)
      if config.display == 'specls' then
        -- Neovim's own display would draw the same text a second time.
        client.server_capabilities.inlineCompletionProvider = nil
      end
    end,
    on_exit = function(_, _, client_id)
      vim.schedule(function()
        ended(client_id)
      end)
    end,
  }
end

return M
