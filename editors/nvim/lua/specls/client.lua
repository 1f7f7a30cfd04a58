--- What Neovim is told of the server, and the server of Neovim.

local messages = require('specls.messages')
local rpc = require('specls.rpc')
local status = require('specls.status')

local M = {}

--- Filetypes that the protocol calls something else.
local LANGUAGES = { cs = 'csharp', sh = 'shellscript', tex = 'latex', text = 'plaintext' }

---@return table
local function capabilities()
  local all = vim.lsp.protocol.make_client_capabilities()
  all.textDocument.inlineCompletion = { dynamicRegistration = false }
  all.experimental = { specls = { status = true } }
  return all
end

local levels = { vim.log.levels.ERROR, vim.log.levels.WARN, vim.log.levels.INFO }

--- What is to be done, in words that work here.
---@param message string
---@return string
local function in_here(message)
  return (message:gsub('`specls (models pull [^`]+)`', '`:Specls %1`'))
end

---@type table<string, fun(err: any, params: table): any>
local handlers = {
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
---@return table  a vim.lsp.ClientConfig
function M.config(config, settings, command, root, ended)
  return {
    name = rpc.NAME,
    cmd = command,
    root_dir = root,
    capabilities = capabilities(),
    init_options = settings,
    settings = { specls = settings },
    handlers = handlers,
    get_language_id = function(_, filetype)
      return LANGUAGES[filetype] or filetype
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
