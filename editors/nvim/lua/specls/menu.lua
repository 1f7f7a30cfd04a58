--- The completion menu that is open, if one is: Neovim's own, nvim-cmp's or blink.cmp's.

local text = require('specls.text')

local M = {}

---@class specls.Selected
---@field word string      what the menu would insert
---@field length integer   how many bytes of it stand before the cursor

---@class specls.Menu
---@field visible fun(): boolean
---@field word fun(): string?   of the selected entry
---@field close fun()

---@type specls.Menu
local builtin = {
  visible = function()
    return vim.fn.pumvisible() == 1
  end,
  word = function()
    local info = vim.fn.complete_info({ 'selected', 'items' })
    local item = info.selected >= 0 and info.items[info.selected + 1]
    return item and item.word or nil
  end,
  close = function()
    vim.fn.complete(vim.fn.col('.'), {})
  end,
}

--- A plugin's module, if the user has loaded it.
---@param name string
---@return table?
local function loaded(name)
  local module = package.loaded[name]
  return type(module) == 'table' and module or nil
end

--- Snippets' entries aren't what will stand there.
---@param item table  an LSP CompletionItem
---@return string?
local function word_of(item)
  if item.insertTextFormat == 2 then
    return nil
  end
  return item.textEdit and item.textEdit.newText or item.insertText or item.label
end

--- nvim-cmp's own view: its public functions wait for its filter, and run other events meanwhile.
---@return table?
local function cmp_view()
  local cmp = loaded('cmp')
  return cmp and cmp.core and cmp.core.view
end

---@type specls.Menu
local nvim_cmp = {
  visible = function()
    local view = cmp_view()
    return view ~= nil and view:visible()
  end,
  word = function()
    local view = cmp_view()
    local entry = view and view:get_selected_entry()
    return entry and word_of(entry.completion_item)
  end,
  close = function()
    require('cmp').close()
  end,
}

---@type specls.Menu
local blink = {
  visible = function()
    local cmp = loaded('blink.cmp')
    return cmp ~= nil and cmp.is_menu_visible()
  end,
  word = function()
    local item = require('blink.cmp').get_selected_item()
    return item and word_of(item)
  end,
  close = function()
    require('blink.cmp').hide()
  end,
}

---@return specls.Menu?
local function open()
  for _, menu in ipairs({ builtin, nvim_cmp, blink }) do
    local ok, visible = pcall(menu.visible)
    if ok and visible then
      return menu
    end
  end
end

--- Whether a completion menu is open.
---@return boolean
function M.visible()
  return open() ~= nil
end

--- The menu's selected entry, if it isn't in the text already and goes on from what is.
---@param before string  the line up to the cursor
---@return specls.Selected?
function M.selected(before)
  local menu = open()
  local ok, word = pcall(menu and menu.word or function() end)
  if not ok or not word or word == '' or word:find('\n') then
    return nil
  end
  local length = text.overlap(before, word)
  local inserted = before:sub(-length) == word
  if length == 0 or inserted then
    return nil
  end
  return { word = word, length = length }
end

--- Close the menu; what stands in the text stays.
function M.close()
  local menu = open()
  if menu then
    pcall(menu.close)
  end
end

--- Call a function whenever another entry is selected, or the menu opens or closes.
---@param group integer  of autocommands
---@param changed fun()
function M.watch(group, changed)
  vim.api.nvim_create_autocmd({ 'CompleteChanged', 'CompleteDone' }, {
    group = group,
    callback = changed,
  })
  vim.api.nvim_create_autocmd('User', {
    group = group,
    pattern = { 'BlinkCmpListSelect', 'BlinkCmpMenuOpen', 'BlinkCmpMenuClose' },
    callback = changed,
  })
  -- nvim-cmp may be loaded later.
  vim.api.nvim_create_autocmd('InsertEnter', {
    group = group,
    callback = function()
      M.listen(changed)
    end,
  })
end

---@type table?  the nvim-cmp that is listened to
local listened

--- Listen to nvim-cmp. It has events of its own, but none for its selection: that is looked at
--- after each key while its menu is open.
---@param changed fun()
function M.listen(changed)
  local cmp = loaded('cmp')
  if not cmp or not cmp.event or cmp == listened then
    return
  end
  listened = cmp
  local last ---@type string?
  local function look()
    local word = nvim_cmp.visible() and nvim_cmp.word() or nil
    if word ~= last then
      last = word
      changed()
    end
  end
  cmp.event:on('menu_opened', vim.schedule_wrap(look))
  cmp.event:on('menu_closed', vim.schedule_wrap(look))
  vim.on_key(function()
    if last then
      vim.schedule(look)
    end
  end, vim.api.nvim_create_namespace('specls.menu'))
end

return M
