--- One suggestion, and whether it still fits what stands in the buffer.

local text = require('specls.text')

---@class specls.Suggestion
---@field item table       the item as the server sent it
---@field client_id integer
---@field text string      what stands from `row`, `col` on, and what is suggested behind it
---@field row integer      from 0
---@field col integer      from 0, in bytes
---@field tail string      what stood behind the cursor on its line
---@field told boolean     whether the server knows that it was seen
---@field partly boolean   whether a part of it was accepted
local Suggestion = {}
Suggestion.__index = Suggestion

local CLOSING = '^[%]%)}>"\'`]+$'

---@param bufnr integer
---@param row integer
---@return string
local function line_at(bufnr, row)
  return vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or ''
end

--- Line endings as the buffer has them in memory.
---@param bufnr integer
---@param inserted string
---@return string
local function unified(bufnr, inserted)
  if vim.bo[bufnr].fileformat == 'unix' then
    return inserted
  end
  return (inserted:gsub('\r\n?', '\n'))
end

--- Read an item; nil where it can't be shown: a snippet, or one that replaces what stands behind
--- the cursor.
---@param bufnr integer
---@param item table                       an LSP InlineCompletionItem
---@param client { id: integer, offset_encoding: specls.Encoding }
---@param row integer                      where it was asked for, from 0
---@param col integer                      the same, in bytes
---@return specls.Suggestion?
function Suggestion.read(bufnr, item, client, row, col)
  if type(item.insertText) ~= 'string' then
    return nil
  end
  local line = line_at(bufnr, row)
  local first, last = col, col
  if item.range then
    local from, to = item.range.start, item.range['end']
    if from.line ~= row or to.line ~= row then
      return nil
    end
    first = text.byte(line, from.character, client.offset_encoding)
    last = text.byte(line, to.character, client.offset_encoding)
  end
  if first > col or last > col then
    return nil
  end
  local self =
    setmetatable({ item = item, client_id = client.id, told = false, partly = false }, Suggestion)
  self.text = unified(bufnr, item.insertText)
  self.row, self.col = row, first
  self.tail = line:sub(last + 1)
  return self
end

--- What is left of it at the cursor; nil where it doesn't fit, '' where all of it was typed.
---
--- It fits where the text up to the cursor is how it begins, and what stands behind the cursor is
--- what stood there, or that after brackets and quotes that it ends with: an editor closed them.
---@param bufnr integer
---@param row integer  from 0
---@param col integer  from 0, in bytes
---@return string? rest
---@return integer? typed  bytes of `text` before the cursor
function Suggestion:rest(bufnr, row, col)
  if row < self.row or (row == self.row and col < self.col) then
    return nil
  end
  local lines = vim.api.nvim_buf_get_lines(bufnr, self.row, row + 1, false)
  if #lines ~= row - self.row + 1 or #lines[#lines] < col then
    return nil
  end
  local tail = lines[#lines]:sub(col + 1)
  lines[#lines] = lines[#lines]:sub(1, col)
  local typed = table.concat(lines, '\n'):sub(self.col + 1)
  if self.text:sub(1, #typed) ~= typed then
    return nil
  end
  return self:_before(self.text:sub(#typed + 1), tail), #typed
end

---@private
---@param rest string
---@param tail string
---@return string?
function Suggestion:_before(rest, tail)
  if tail == self.tail then
    return rest
  end
  local closed = tail:sub(1, #tail - #self.tail)
  if closed .. self.tail ~= tail or not closed:match(CLOSING) or rest:sub(-#closed) ~= closed then
    return nil
  end
  return rest:sub(1, #rest - #closed)
end

--- How much of the item's own text stands before the cursor, as its server counts.
---@param length integer  bytes of `text` that stand there
---@return integer units   UTF-16 code units of `insertText`
function Suggestion:accepted_length(length)
  local before = self.text:sub(1, length)
  local returns = 0
  if #self.item.insertText ~= #self.text then
    returns = select(2, before:gsub('\n', '\n'))
  end
  return text.utf16(before) + returns
end

return Suggestion
