--- Where the cursor is, and whether this is a moment for suggestions.

local menu = require('specls.menu')

local M = {}

---@return integer row  from 0
---@return integer col  from 0, in bytes
function M.cursor()
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  return row - 1, col
end

--- Whether a plugin for several cursors has more than one.
---@return boolean
local function several_cursors()
  if vim.b.visual_multi then
    return true
  end
  local module = package.loaded['multicursor-nvim']
  return type(module) == 'table' and module.hasCursors ~= nil and module.hasCursors()
end

--- Whether what is typed goes into all lines of a block.
local block = false

--- Follow what kind of insert mode it is.
---@param group integer  of autocommands
function M.watch(group)
  vim.api.nvim_create_autocmd('ModeChanged', {
    group = group,
    callback = function()
      local event = vim.v.event
      if event.new_mode:sub(1, 1) ~= 'i' then
        block = false
      elseif event.old_mode:sub(1, 1) == '\22' then
        block = true
      end
    end,
  })
end

--- Plain typing: insert mode, one cursor, and no macro that would take suggestions along.
---@return boolean
function M.typing()
  return vim.api.nvim_get_mode().mode:sub(1, 1) == 'i'
    and vim.fn.reg_recording() == ''
    and vim.fn.reg_executing() == ''
    and not vim.o.paste
    and not block
    and not several_cursors()
end

--- The same, and no menu that suggestions have to yield to.
---@param config specls.Config
---@return boolean
function M.suggesting(config)
  return M.typing() and not (config.menu == 'hide' and menu.visible())
end

return M
