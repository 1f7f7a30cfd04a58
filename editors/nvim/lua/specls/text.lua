--- Strings: columns as servers count them, words and lines of a suggestion, what fills cells.

local M = {}

---@alias specls.Encoding 'utf-8'|'utf-16'|'utf-32'

local modern = vim.fn.has('nvim-0.11') == 1

--- The byte at a server's column. Past the line's end it's the end.
---@param line string
---@param character integer  from 0, in units of the encoding
---@param encoding specls.Encoding
---@return integer byte  from 0
function M.byte(line, character, encoding)
  if encoding == 'utf-8' then
    return math.min(character, #line)
  end
  if modern then
    return vim.str_byteindex(line, encoding, character, false)
  end
  local longest = M.character(line, #line, encoding)
  ---@diagnostic disable-next-line: param-type-mismatch -- as of Neovim 0.10
  return vim.str_byteindex(line, math.min(character, longest), encoding == 'utf-16')
end

--- A server's column of a byte.
---@param line string
---@param byte integer  from 0
---@param encoding specls.Encoding
---@return integer character  from 0
function M.character(line, byte, encoding)
  byte = math.min(byte, #line)
  if encoding == 'utf-8' then
    return byte
  end
  if modern then
    return vim.str_utfindex(line, encoding, byte, false)
  end
  ---@diagnostic disable-next-line: param-type-mismatch -- as of Neovim 0.10
  local utf32, utf16 = vim.str_utfindex(line, byte)
  return encoding == 'utf-16' and utf16 or utf32
end

--- How long a text is in UTF-16 code units.
---@param text string
---@return integer
function M.utf16(text)
  return M.character(text, #text, 'utf-16')
end

--- The next word of a suggestion with the blanks and ends of lines before it.
---@param text string
---@return string
function M.word(text)
  return text:match('^%s*[%w_\128-\255]+') or text:match('^%s*[^%w_%s\128-\255]+') or text
end

--- The rest of a suggestion's line; where nothing is left of that, the next line.
---@param text string
---@return string
function M.line(text)
  return text:match('^\n*[^\n]*') or ''
end

--- Tabs as the blanks that they fill.
---@param text string
---@param column integer  the cell where the text begins
---@return string
function M.expand(text, column)
  local parts, cell = {}, column
  for piece, tab in text:gmatch('([^\t]*)(\t?)') do
    cell = cell + vim.fn.strdisplaywidth(piece, cell)
    table.insert(parts, piece)
    if tab ~= '' then
      local width = vim.fn.strdisplaywidth('\t', cell)
      table.insert(parts, (' '):rep(width))
      cell = cell + width
    end
  end
  return table.concat(parts)
end

--- How much of a menu's entry stands at the end of a text already, letters' case aside.
---@param before string
---@param entry string
---@return integer bytes
function M.overlap(before, entry)
  local low, wanted = before:lower(), entry:lower()
  for length = math.min(#low, #wanted), 1, -1 do
    if low:sub(-length) == wanted:sub(1, length) then
      return length
    end
  end
  return 0
end

return M
