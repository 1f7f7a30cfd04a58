--- The text that isn't there yet, drawn at the cursor.

local text = require('specls.text')

local M = {}

local namespace = vim.api.nvim_create_namespace('specls')
local HIGHLIGHT, HINT = 'SpeclsGhost', 'SpeclsHint'

---@class specls.Drawn
---@field bufnr integer
---@field id integer

---@type specls.Drawn?
local drawn

--- Link the highlights to what the colour scheme has; a user's own are left alone.
function M.highlight()
  local hint = vim.fn.hlexists('ComplHint') == 1
  vim.api.nvim_set_hl(0, HIGHLIGHT, { link = hint and 'ComplHint' or 'NonText', default = true })
  vim.api.nvim_set_hl(0, HINT, { link = hint and 'ComplHintMore' or 'MoreMsg', default = true })
end

---@param bufnr integer
---@param row integer
---@param col integer
---@return string before
---@return string tail
local function around(bufnr, row, col)
  local line = vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or ''
  return line:sub(1, col), line:sub(col + 1)
end

---@param lines string[]
---@param hint? string
---@return table[][] virt_lines
local function below(lines, hint)
  local rows = {}
  for index = 2, #lines do
    table.insert(rows, { { lines[index], HIGHLIGHT } })
  end
  if hint and #rows > 0 then
    table.insert(rows[#rows], { hint, HINT })
  end
  return rows
end

--- Where a suggestion of several lines stands before the rest of a line, that rest is shown behind
--- its last line, where it will be, and blanks over the place where it is.
---@param rows table[][]
---@param first string
---@param tail string
---@return string first
local function move_tail(rows, first, tail)
  local width = vim.fn.strdisplaywidth(tail) - vim.fn.strdisplaywidth(first)
  table.insert(rows[#rows], { tail, 'Normal' })
  return first .. (' '):rep(math.max(width, 0))
end

--- How many of the lines below the cursor don't fit into the window.
---@param bufnr integer
---@param count integer  of lines below
---@return string? hint
local function hidden(bufnr, count)
  if vim.api.nvim_get_current_buf() ~= bufnr then
    return nil
  end
  local over = vim.fn.winline() + count - vim.api.nvim_win_get_height(0)
  return over > 0 and (' +%d'):format(over) or nil
end

--- Draw a text at a place, in place of what was drawn before.
---@param bufnr integer
---@param row integer  from 0
---@param col integer  from 0, in bytes
---@param rest string   may have several lines
---@param hint? string  shown behind it, like ` 2/3`
function M.draw(bufnr, row, col, rest, hint)
  local before, tail = around(bufnr, row, col)
  local lines = vim.split((rest:gsub('\r', '')), '\n', { plain = true })
  for index, line in ipairs(lines) do
    lines[index] = text.expand(line, index == 1 and vim.fn.strdisplaywidth(before) or 0)
  end
  local rows, first = below(lines, hint), lines[1] or ''
  local place = 'inline' ---@type 'inline'|'overlay'
  if #rows > 0 and tail ~= '' then
    first, place = move_tail(rows, first, tail), 'overlay'
  end
  local chunks = { { first, HIGHLIGHT } }
  local beside = #rows == 0 and hint or hidden(bufnr, #rows)
  if beside then
    table.insert(chunks, { beside, HINT })
  end
  if drawn and drawn.bufnr ~= bufnr then
    M.clear()
  end
  local id = vim.api.nvim_buf_set_extmark(bufnr, namespace, row, col, {
    id = drawn and drawn.id or nil,
    virt_text = chunks,
    virt_text_pos = place,
    virt_lines = #rows > 0 and rows or nil,
    hl_mode = 'combine',
  })
  drawn = { bufnr = bufnr, id = id }
end

--- Take away what was drawn.
function M.clear()
  if drawn and vim.api.nvim_buf_is_valid(drawn.bufnr) then
    vim.api.nvim_buf_del_extmark(drawn.bufnr, namespace, drawn.id)
  end
  drawn = nil
end

--- Whether anything is drawn.
---@return boolean
function M.visible()
  return drawn ~= nil
end

return M
