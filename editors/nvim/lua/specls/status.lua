--- What the server does at the moment, as it tells.

local switch = require('specls.switch')

local M = {}

---@class specls.Status
---@field state 'none'|'starting'|'loading'|'ready'|'busy'|'disabled'|'error'|'off'
---@field message? string   one sentence
---@field progress? number  0 to 100, while loading
---@field model? string
---@field draft? string
---@field uri? string       the document that is disabled
---@field reason? string    why it is, or what failed
---@field remedy? string    what to do
---@field command? table    an LSP Command that does it

---@type specls.Status
local current = { state = 'none' }

--- JSON's null is no value.
---@param params table
---@return specls.Status
local function read(params)
  local status = {} ---@type table
  for key, value in pairs(params) do
    status[key] = value ~= vim.NIL and value or nil
  end
  return status --[[@as specls.Status]]
end

---@param status specls.Status
local function set(status)
  current = status
  vim.api.nvim_exec_autocmds('User', { pattern = 'SpeclsStatus', modeline = false, data = status })
  vim.cmd.redrawstatus()
end

--- Handle `specls/status`.
---@param params table
function M.receive(params)
  set(read(params))
end

--- The server was started, or ended.
---@param state 'none'|'starting'|'error'
---@param message? string
function M.set(state, message)
  set({ state = state, message = message })
end

---@return specls.Status
function M.get()
  return current
end

local words = {
  none = '',
  starting = 'starting',
  loading = 'loading',
  ready = '',
  busy = '…',
  disabled = 'not here',
  error = 'error',
  off = 'off',
}

--- A few characters for a status line; empty where there's no server.
---@return string
function M.line()
  if current.state == 'none' then
    return ''
  end
  local word = words[current.state] or current.state
  if not switch.on(vim.api.nvim_get_current_buf()) then
    word = 'off'
  elseif current.state == 'loading' and current.progress then
    word = ('loading %d/100'):format(current.progress) -- a percent sign means more in status lines
  end
  return word == '' and 'specls' or 'specls ' .. word
end

return M
