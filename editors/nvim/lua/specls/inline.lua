--- Suggestions in the buffer where somebody types: when they are asked for, and taking them.

local asking = require('specls.asking')
local menu = require('specls.menu')
local moment = require('specls.moment')
local offer = require('specls.offer')
local report = require('specls.report')
local Suggestion = require('specls.suggestion')
local switch = require('specls.switch')
local text = require('specls.text')

local M = {}

---@type specls.Config
local config

---@return boolean
local function allowed()
  return moment.suggesting(config) and switch.on(vim.api.nvim_get_current_buf())
end

--- Forget everything, and ask for nothing.
---@param dismissed? boolean
local function close(dismissed)
  asking.cancel()
  offer.close(dismissed)
end

--- The items that can be shown here, each text once.
---@param request specls.Asked
---@param items table[]
---@return specls.Suggestion[]
local function read(request, items)
  local found, texts = {}, {}
  local row, col = moment.cursor()
  for _, item in ipairs(items) do
    local suggestion =
      Suggestion.read(request.bufnr, item, request.client, request.row, request.col)
    local rest = suggestion and suggestion:rest(request.bufnr, row, col)
    if rest and rest ~= '' and not texts[rest] then
      texts[rest] = true
      table.insert(found, suggestion)
    end
  end
  return found
end

--- What becomes of what is shown when this is found: nothing where it fits, unless what is new is
--- the same and more, or an entry of the menu was selected.
---@param request specls.Asked
---@param found specls.Suggestion[]
---@return 'stays'|'grows'|'goes'
local function fate(request, found)
  local current = offer.fitting()
  if not current then
    return 'goes'
  end
  local new = found[1] and found[1]:rest(request.bufnr, moment.cursor())
  if new and #new > #current.rest and vim.startswith(new, current.rest) then
    return 'grows'
  end
  return request.selected and 'goes' or 'stays'
end

---@param request specls.Asked
---@param items table[]
local function receive(request, items)
  if vim.api.nvim_get_current_buf() ~= request.bufnr or not allowed() then
    return
  end
  local found = read(request, items)
  local what = fate(request, found)
  if what ~= 'stays' then
    offer.set(request.bufnr, found, what == 'grows')
  end
  offer.show()
end

--- Ask for all there are, and show one of them.
---@param move integer  how many to go on from the one that is shown
local function ask_for_all(move)
  if not allowed() then
    return
  end
  asking.ask(asking.INVOKED, function(request, items)
    if vim.api.nvim_get_current_buf() == request.bufnr and allowed() then
      offer.extend(request.bufnr, read(request, items), move)
      offer.show()
    end
  end)
end

local function ask()
  if allowed() then
    asking.ask(asking.AUTOMATIC, receive)
  end
end

--- The cursor is elsewhere: show what still fits.
local function moved()
  if not offer.visible() then
    return
  end
  if allowed() then
    offer.show()
  else
    close()
  end
end

--- The text is another: show what still fits, and ask.
local function changed()
  if allowed() then
    offer.show()
    if config.auto_trigger then
      asking.soon(config.debounce_ms, ask)
    end
  else
    close()
  end
end

--- Insert a text at the cursor.
---@param part string
---@return boolean inserted  false where the text is locked, as in a mapping with `expr`
local function insert(part)
  menu.close()
  vim.go.undolevels = vim.go.undolevels -- so that one undo takes back this and no more
  local row, col = moment.cursor()
  local lines = vim.split(part, '\n', { plain = true })
  if not pcall(vim.api.nvim_buf_set_text, 0, row, col, row, col, lines) then
    return false
  end
  local column = #lines[#lines] + (#lines == 1 and col or 0)
  vim.api.nvim_win_set_cursor(0, { row + #lines, column })
  return true
end

--- Take what is seen, or the part of it that `cut` leaves.
---@param cut? fun(seen: string): string
---@param again? boolean  the text was locked before
---@return boolean taken  false where nothing is shown
local function take(cut, again)
  local current = M.visible() and offer.fitting()
  if not current then
    return false
  end
  local part = cut and cut(current.seen) or current.seen
  if not insert(part) then
    if again then
      close()
      return false
    end
    vim.schedule(function()
      take(cut, true)
    end)
    return true
  end
  asking.cancel()
  if part == current.rest then
    offer.taken()
    report.accepted(current.suggestion)
  else
    report.partly_accepted(current.suggestion, current.typed + #part)
    offer.show()
  end
  return true
end

--- Whether a suggestion is shown.
---@return boolean
function M.visible()
  return offer.visible()
end

--- What is shown, as it would be inserted.
---@return string?
function M.shown()
  local current = M.visible() and offer.fitting()
  return current and current.seen or nil
end

---@return boolean taken  false where nothing is shown
function M.accept()
  return take()
end

---@return boolean taken
function M.accept_word()
  return take(text.word)
end

---@return boolean taken
function M.accept_line()
  return take(text.line)
end

--- Another suggestion; those that weren't asked for yet are.
---@param move integer
---@return boolean visible  false where none was shown before
function M.go(move)
  local visible = M.visible()
  if not offer.go(move) then
    ask_for_all(move)
  end
  return visible
end

--- Ask now, whether suggestions come by themselves or not.
function M.trigger()
  ask_for_all(0)
end

---@return boolean dismissed  false where nothing was shown
function M.dismiss()
  local visible = M.visible()
  close(visible)
  return visible
end

--- Take away what is shown.
function M.hide()
  close()
end

---@param options specls.Config
---@param group integer  of autocommands
function M.setup(options, group)
  config = options
  local on = vim.api.nvim_create_autocmd
  on({ 'TextChangedI', 'TextChangedP' }, { group = group, callback = changed })
  -- This comes before the mode is another.
  on('InsertEnter', { group = group, callback = vim.schedule_wrap(changed) })
  on('CursorMovedI', { group = group, callback = moved })
  on({ 'InsertLeave', 'BufLeave', 'WinLeave' }, { group = group, callback = M.hide })
  moment.watch(group)
  menu.watch(group, function()
    if moment.typing() then
      changed()
    end
  end)
end

return M
