--- The suggestions that are there at the moment, and the one that is shown.

local ghost = require('specls.ghost')
local menu = require('specls.menu')
local moment = require('specls.moment')
local report = require('specls.report')

local M = {}

---@type specls.Suggestion[]
local list = {}
local chosen = 1
---@type integer  buffer
local where = -1
---@type boolean  whether somebody asked for all of them, and goes through them
local numbered = false

---@class specls.Fitting
---@field suggestion specls.Suggestion
---@field rest string    what is left of it
---@field typed integer  bytes of it that stand before the cursor
---@field seen string    what is shown of the rest

--- What is seen of a text: beside a menu its first line, for the menu covers the others.
---@param rest string
---@return string
local function seen(rest)
  return menu.visible() and rest:match('^[^\n]*') or rest
end

--- The first suggestion that fits, beginning with the chosen one, which it becomes.
---@return specls.Fitting?
function M.fitting()
  if vim.api.nvim_get_current_buf() ~= where then
    return nil
  end
  local row, col = moment.cursor()
  for step = 0, #list - 1 do
    local index = (chosen + step - 1) % #list + 1
    local suggestion = assert(list[index])
    local rest, typed = suggestion:rest(where, row, col)
    if rest and rest ~= '' then
      chosen = index
      return { suggestion = suggestion, rest = rest, typed = typed or 0, seen = seen(rest) }
    end
  end
end

--- Forget the suggestions.
---@param dismissed? boolean  they were sent away; else something else was typed
function M.close(dismissed)
  ghost.clear()
  local gone = list
  list, chosen, numbered = {}, 1, false
  for _, suggestion in ipairs(gone) do
    report.rejected(suggestion, not dismissed)
  end
end

--- Forget them without a word: one was taken.
function M.taken()
  list = {}
  M.close()
end

--- Show what still fits, or nothing.
---@return boolean shown
function M.show()
  local fitting = M.fitting()
  if not fitting then
    M.close()
    return false
  end
  if fitting.seen == '' then
    ghost.clear()
    return false
  end
  local row, col = moment.cursor()
  local hint = numbered and (' %d/%d'):format(chosen, #list) or nil
  ghost.draw(where, row, col, fitting.seen, hint)
  report.shown(fitting.suggestion)
  return true
end

--- Replace what was there.
---@param bufnr integer
---@param suggestions specls.Suggestion[]
---@param longer? boolean  by the same and more, so nothing went away
function M.set(bufnr, suggestions, longer)
  if longer then
    list = {}
  end
  M.close()
  list, where = suggestions, bufnr
end

--- Put others behind the one that is shown, and go on to one of them.
---@param bufnr integer
---@param suggestions specls.Suggestion[]
---@param move integer
function M.extend(bufnr, suggestions, move)
  local current = M.fitting()
  if not current then
    M.set(bufnr, suggestions)
    numbered = true
    return
  end
  local row, col = moment.cursor()
  local all = { current.suggestion }
  for _, suggestion in ipairs(suggestions) do
    if suggestion:rest(bufnr, row, col) ~= current.rest then
      table.insert(all, suggestion)
    end
  end
  list, chosen, numbered = all, move % #all + 1, true
end

--- Go to another one.
---@param move integer
---@return boolean shown  false where they must be asked for first
function M.go(move)
  if #list == 0 or not numbered then
    return false
  end
  chosen = (chosen + move - 1) % #list + 1
  return M.show()
end

--- Whether one is shown.
---@return boolean
function M.visible()
  return #list > 0 and ghost.visible()
end

return M
