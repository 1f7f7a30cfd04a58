--- Keys that do something while a suggestion is shown, and what they did before while none is.

local M = {}

---@type table<string, fun(): boolean>  by action; false: there was nothing to do
local actions = {
  accept = function()
    return require('specls').accept()
  end,
  accept_word = function()
    return require('specls').accept_word()
  end,
  accept_line = function()
    return require('specls').accept_line()
  end,
  next = function()
    return require('specls').next()
  end,
  previous = function()
    return require('specls').previous()
  end,
  dismiss = function()
    return require('specls').dismiss()
  end,
  trigger = function()
    require('specls').trigger()
    return true
  end,
}

local ALWAYS = { trigger = true, next = true, previous = true }

--- Keep what a key does so far under another name.
---@param key string
---@param name string
local function keep(key, name)
  local before = vim.fn.maparg(key, 'i', false, true)
  if vim.tbl_isempty(before) or before.buffer == 1 then
    vim.keymap.set('i', name, key)
    return
  end
  before.lhsraw = vim.api.nvim_replace_termcodes(name, true, true, true)
  before.lhs, before.lhsrawalt = name, nil
  vim.fn.mapset(before)
end

---@param action string
---@param key string
local function set(action, key)
  local fallback = ('<Plug>(specls-not-%s)'):format(action)
  local run = ('<Plug>(specls-%s)'):format(action)
  keep(key, fallback)
  vim.keymap.set('i', run, actions[action], { desc = 'specls: ' .. action })
  vim.keymap.set('i', key, function()
    return (ALWAYS[action] or require('specls').visible()) and run or fallback
  end, { expr = true, remap = true, desc = 'specls: ' .. action:gsub('_', ' ') })
end

--- Set the keys. Setting them again changes nothing that they fall back to.
---@param keys table<string, string|false>
function M.setup(keys)
  for action, key in pairs(keys) do
    local before = key and vim.fn.maparg(key, 'i', false, true)
    if before and not vim.startswith(before.desc or '', 'specls: ') then
      set(action, key --[[@as string]])
    end
  end
end

return M
