--- Inline completion from a model on your own machine. `:help specls` says how it's used.

local inline = require('specls.inline')

local M = {}

---@type specls.Config?
local active

--- Start. Called again, it follows the new options.
---@param options? table  see |specls-options|
function M.setup(options)
  local config, problems = require('specls.config').read(options or {})
  if #problems > 0 then
    vim.notify('specls: ' .. table.concat(problems, ' '), vim.log.levels.ERROR)
  end
  active = config
  local group = vim.api.nvim_create_augroup('specls', { clear = true })
  local highlight = require('specls.ghost').highlight
  vim.api.nvim_create_autocmd('ColorScheme', { group = group, callback = highlight })
  highlight()
  if config.display == 'specls' then
    inline.setup(config, group)
    require('specls.keymaps').setup(require('specls.config').keys(config.keymaps))
  end
  require('specls.server').setup(config, group)
end

--- The options in force; nil before `setup`.
---@return specls.Config?
function M.config()
  return active
end

--- Whether a suggestion is shown.
---@return boolean
function M.visible()
  return inline.visible()
end

--- What is shown.
---@return string?
function M.shown()
  return inline.shown()
end

--- Accept the suggestion that is shown.
---@return boolean accepted  false where none is, so that a key may do something else
function M.accept()
  return inline.accept()
end

--- Accept its next word.
---@return boolean
function M.accept_word()
  return inline.accept_word()
end

--- Accept the rest of its line.
---@return boolean
function M.accept_line()
  return inline.accept_line()
end

--- Show the next suggestion.
---@return boolean
function M.next()
  return inline.go(1)
end

--- Show the one before.
---@return boolean
function M.previous()
  return inline.go(-1)
end

--- Send the suggestion away.
---@return boolean
function M.dismiss()
  return inline.dismiss()
end

--- Ask for a suggestion now.
function M.trigger()
  inline.trigger()
end

--- Turn suggestions on or off.
---@param scope? specls.Scope  default: 'global'
---@param on? boolean          default: the other way
---@return boolean on
function M.toggle(scope, on)
  local switch = require('specls.switch')
  scope = scope or 'global'
  if on == nil then
    on = not switch.get(scope)
  end
  switch.set(scope, on)
  require('specls.server').switch(scope, on)
  if not on then
    inline.hide()
  end
  vim.cmd.redrawstatus()
  return on
end

--- Change settings of the running server.
---@param settings table<string, any>
function M.configure(settings)
  require('specls.server').configure(settings)
end

--- End the server and start it anew.
function M.restart()
  require('specls.server').restart()
end

--- A few characters for a status line.
---@return string
function M.statusline()
  return require('specls.status').line()
end

--- What the server told last.
---@return specls.Status
function M.status()
  return require('specls.status').get()
end

return M
