local editor = require('editor')
local test, equal = _G.test, _G.equal

--- Open Neovim's own menu with entries for what is typed.
local MENU = [[
  vim.o.completeopt = 'menuone,noinsert'
  vim.keymap.set('i', '<F5>', function()
    vim.fn.complete(1, { 'enumerate', 'enum' })
  end)
]]

local function info()
  return editor.until_asked().context.selectedCompletionInfo
end

test('beside the menu the suggestion goes on from the selected entry', function()
  editor.open({ lines = { '' }, before = MENU })
  editor.type('ien<F5>')
  equal({
    range = { start = { line = 0, character = 0 }, ['end'] = { line = 0, character = 2 } },
    text = 'enumerate',
  }, info())
  editor.suggest('umerate(xs)')
  editor.until_ghost({ 'umerate(xs)' })
end)

test('another entry is another request', function()
  editor.open({ lines = { '' }, before = MENU })
  editor.type('ien<F5>')
  editor.until_asked()
  editor.suggest('umerate(xs)')
  editor.until_ghost({ 'umerate(xs)' })
  editor.type('<Down>')
  equal('enum', info().text)
  editor.suggest('um.Enum')
  editor.until_ghost({ 'um.Enum' })
end)

test('an entry that stands in the text already is no more said', function()
  editor.open({ lines = { '' }, before = MENU })
  editor.type('ien<F5><C-n>')
  editor.until_is({ 'enum' }, editor.lines)
  equal(nil, info())
end)

test('accepting beside the menu inserts what is seen, and closes the menu', function()
  editor.open({ lines = { '' }, before = MENU, options = { keymaps = true } })
  editor.type('ien<F5>')
  editor.until_asked()
  editor.suggest('umerate(xs):\n  pass')
  editor.until_ghost({ 'umerate(xs):' })
  editor.type('<Tab>')
  editor.until_is({ 'enumerate(xs):' }, editor.lines)
  equal(0, editor.lua('return vim.fn.pumvisible()'))
  editor.until_ghost({ '', '  pass' })
  local partly = editor.told('textDocument/didPartiallyAcceptCompletion')
  equal(14, partly[1].acceptedLength)
end)

test('a key falls through to the menu while nothing is shown', function()
  editor.open({ lines = { '' }, before = MENU, options = { keymaps = { accept = '<C-y>' } } })
  editor.type('ien<F5><C-y>')
  editor.until_is({ 'enumerate' }, editor.lines)
end)

test('suggestions yield to the menu if that is wanted', function()
  editor.open({ lines = { '' }, before = MENU, options = { menu = 'hide' } })
  editor.type('ien')
  editor.until_asked()
  editor.suggest('umerate')
  editor.until_ghost({ 'umerate' })
  editor.type('<F5>')
  editor.until_ghost(nil)
end)

--- Stands for nvim-cmp or blink.cmp, with the functions of theirs that are used.
local CMP = [[
  _G.open, _G.closed, _G.selected = true, 0, 'enumerate'
  package.loaded['cmp'] = {
    core = { view = {
      visible = function() return open end,
      get_selected_entry = function()
        return { completion_item = { label = 'enumerate~', insertText = selected } }
      end,
    } },
    close = function() open, closed = false, closed + 1 end,
    event = {
      on = function(_, name, listener)
        if name == 'menu_opened' then _G.opened = listener end
      end,
    },
  }
]]
local BLINK = [[
  _G.open, _G.closed = true, 0
  package.loaded['blink.cmp'] = {
    is_menu_visible = function() return open end,
    get_selected_item = function()
      return { label = 'enumerate', textEdit = { newText = 'enumerate' } }
    end,
    hide = function() open, closed = false, closed + 1 end,
  }
]]

for name, fake in pairs({ ['nvim-cmp'] = CMP, ['blink.cmp'] = BLINK }) do
  test('the same beside ' .. name, function()
    editor.open({ lines = { '' }, before = fake })
    editor.type('ix en')
    local selected = info()
    equal('enumerate', selected.text)
    equal(2, selected.range.start.character)
    editor.suggest('umerate(xs)')
    editor.until_ghost({ 'umerate(xs)' })
    editor.lua([[require('specls').accept()]])
    editor.until_is({ 'x enumerate(xs)' }, editor.lines)
    equal(1, editor.lua('return closed'))
  end)
end

test('another entry of nvim-cmp is another request, though it tells nobody', function()
  editor.open({ lines = { '' }, before = CMP })
  editor.type('ien')
  editor.lua('opened()')
  equal('enumerate', info().text)
  editor.lua([[vim.keymap.set('i', '<C-n>', function() _G.selected = 'enum' end)]])
  editor.type('<C-n>')
  editor.until_is('enum', function()
    return info().text
  end)
end)

test('a snippet of a menu isn’t taken for text', function()
  local snippet = CMP:gsub('insertText = selected', '%0, insertTextFormat = 2')
  editor.open({ lines = { '' }, before = snippet })
  editor.type('ien')
  equal(nil, info())
end)
