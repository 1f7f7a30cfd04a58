local editor = require('editor')
local test, equal = _G.test, _G.equal

local function state()
  return editor.lua([[return require('specls').status().state]])
end

test('the server is told who asks, and what was set', function()
  editor.open({ options = { settings = { maxTokens = 7 } } })
  local params = editor.told('initialize')[1]
  equal({ dynamicRegistration = false }, params.capabilities.textDocument.inlineCompletion)
  equal({ specls = { status = true } }, params.capabilities.experimental)
  equal({ maxTokens = 7 }, params.initializationOptions)
end)

test('no settings are an object, too', function()
  editor.open()
  local sent = [[vim.json.encode(stub:told('initialize')[1].initializationOptions)]]
  equal('{}', editor.lua('return ' .. sent))
  editor.lua([[require('specls').configure({ maxTokens = 9 })]])
  local told = editor.told('workspace/didChangeConfiguration')
  equal({ settings = { specls = { maxTokens = 9 } } }, told[#told])
end)

test('one server serves all buffers and workspaces', function()
  local other = vim.fn.tempname()
  vim.fn.mkdir(other .. '/.git', 'p')
  vim.fn.writefile({ '' }, other .. '/b.txt')
  editor.open()
  editor.lua('vim.cmd.edit(...); vim.bo.filetype = "code"', other .. '/b.txt')
  equal(1, editor.lua('return stub.starts'))
  equal(2, #editor.told('textDocument/didOpen'))
  local added = editor.told('workspace/didChangeWorkspaceFolders')[1].event.added
  equal({ { name = other, uri = vim.uri_from_fname(other) } }, added)
end)

test('the server is told which document is looked at', function()
  editor.open()
  local uri = editor.lua('return vim.uri_from_bufnr(0)')
  local focused = editor.told('textDocument/didFocus')
  equal({ textDocument = { uri = uri } }, focused[#focused])
end)

test('help, other buffers without a file and unwanted languages are left alone', function()
  editor.open({ options = { filetypes = { secret = false } } })
  editor.lua([[
    vim.cmd.help()
    vim.cmd.new()
    vim.bo.filetype = 'code'
    vim.cmd.edit(vim.fn.tempname())
    vim.bo.filetype = 'secret'
  ]])
  equal(1, #editor.told('textDocument/didOpen'))
end)

test('a dead server is started again, and serves the same buffers', function()
  editor.open({ lines = { '' } })
  editor.type('il')
  editor.until_asked()
  editor.suggest('ocal')
  editor.until_ghost({ 'ocal' })
  editor.lua('stub.waiting = {}; stub:die()')
  editor.until_ghost(nil)
  editor.until_is(2, function()
    return editor.lua('return stub.starts')
  end)
  editor.until_is(2, function()
    return #editor.told('textDocument/didOpen')
  end)
  editor.type('o')
  editor.until_asked()
end)

test('a server that keeps ending isn’t started for ever', function()
  editor.open({ before = 'vim.defer_fn = function(work) vim.schedule(work) end' })
  for starts = 1, 6 do
    editor.until_is(starts, function()
      return editor.lua('return stub.starts')
    end)
    editor.lua('stub:die()')
  end
  editor.until_is('error', state)
  equal(6, editor.lua('return stub.starts'))
  local ours = vim.tbl_filter(function(note)
    return vim.startswith(note, 'specls: ')
  end, editor.lua('return notes'))
  equal({ 'specls: the server keeps ending; see :Specls log, and :Specls restart.' }, ours)
end)

test('restarting ends one server and starts another', function()
  editor.open()
  editor.lua('vim.cmd.Specls("restart")')
  editor.until_is(2, function()
    return #editor.told('initialize')
  end)
  equal(1, #editor.told('shutdown'))
  equal(1, #editor.told('exit'))
end)

test('a message of the server is shown once, and says what to do here', function()
  editor.open()
  local message = 'specls: x is no model here. `specls models pull x` fetches it.'
  for _ = 1, 2 do
    editor.lua('stub:notify("window/showMessage", { type = 1, message = ... })', message)
  end
  local shown = { 'specls: x is no model here. `:Specls models pull x` fetches it.' }
  editor.until_is(shown, function()
    return editor.lua('return notes')
  end)
end)

test('that the model is missing fits in a line', function()
  editor.open()
  local message = "specls: x-1b isn't on this machine yet. `specls models pull x-1b` fetches it."
  editor.lua('stub:notify("window/showMessage", { type = 1, message = ... })', message)
  editor.until_is({ 'specls: the model isn’t here yet. :Specls models pull x-1b' }, function()
    return editor.lua('return notes')
  end)
end)

test('a program that isn’t there is said once, with what to do', function()
  editor.open()
  editor.lua([[
    require('specls').setup({ cmd = { '/nowhere/specls' } })
    for _, client in ipairs(vim.lsp.get_clients()) do require('specls.rpc').stop(client) end
    vim.cmd.edit(vim.fn.tempname())
    vim.bo.filetype = 'code'
    vim.bo.filetype = 'code'
  ]])
  local notes = editor.lua('return notes')
  equal(1, #notes)
  equal('specls isn’t found.', notes[1]:match('^[^.]*%.'))
end)

test('options that are wrong are said and left out', function()
  editor.open({ options = { menu = 'no', colour = 1, keymaps = { jump = 'x' } } })
  local note = editor.lua('return notes[1]')
  equal({
    'specls: colour is no option of setup',
    ' keymaps',
    'jump is no action',
    " menu has to be 'respect' or 'hide'",
    '',
  }, vim.split(note, '.', { plain = true }))
  equal('respect', editor.lua([[return require('specls').config().menu]]))
end)

test('settings change in the running server', function()
  editor.open({ options = { settings = { maxTokens = 7 } } })
  editor.lua('vim.cmd.Specls({ args = { "set", "maxTokens=9", "multiline=never" } })')
  local told = editor.told('workspace/didChangeConfiguration')
  equal({ settings = { specls = { maxTokens = 9, multiline = 'never' } } }, told[#told])
end)

test('switches work for everything, a buffer and a language', function()
  for _, scope in ipairs({ 'global', 'buffer', 'language' }) do
    editor.open({ lines = { '' } })
    editor.type('il')
    editor.until_asked()
    editor.suggest('ocal')
    editor.until_ghost({ 'ocal' })
    editor.lua('vim.cmd.Specls({ args = { "toggle", ... } })', scope)
    editor.until_ghost(nil)
    editor.type('o')
    equal(0, editor.lua('return #stub.waiting'))
    equal('specls off', editor.lua([[return require('specls').statusline()]]))
    local settings = { global = { enabled = false }, language = { enable = { code = false } } }
    local told = editor.told('workspace/didChangeConfiguration')
    equal(settings[scope] or {}, told[#told].settings.specls)
    editor.lua('vim.cmd.Specls({ args = { "toggle", ... } })', scope)
    editor.type('c')
    editor.until_asked()
  end
end)

test('the status line follows the server', function()
  editor.open()
  local lines = {}
  for _, status in ipairs({
    { state = 'loading', progress = 40 },
    { state = 'ready', message = vim.NIL },
    { state = 'busy' },
    { state = 'disabled', reason = 'secrets' },
    { state = 'error', message = 'no' },
  }) do
    editor.lua('stub:notify("specls/status", ...)', status)
    editor.until_is(status.state, state)
    table.insert(lines, editor.lua([[return require('specls').statusline()]]))
  end
  local wanted =
    { 'specls loading 40/100', 'specls', 'specls …', 'specls not here', 'specls error' }
  equal(wanted, lines)
end)

test('Neovim’s own display leaves our suggestions alone', function()
  local enable = 'if vim.lsp.inline_completion then vim.lsp.inline_completion.enable() end'
  editor.open({ lines = { '' }, before = enable })
  editor.type('il')
  editor.until_asked()
  vim.wait(300)
  equal(1, editor.lua('return #stub.waiting'))
  editor.lua(enable)
  editor.type('o')
  editor.until_asked()
  vim.wait(300)
  equal(1, editor.lua('return #stub.waiting'))
end)

test('the health check says what is wrong', function()
  editor.open()
  editor.lua([[stub:notify('specls/status', { state = 'error', message = 'x isn’t here yet.',
    remedy = 'specls models pull x' })]])
  editor.until_is('error', state)
  editor.lua('vim.cmd.checkhealth("specls")')
  local report = table.concat(editor.lines(), '\n')
  equal(true, report:find('ERROR x isn’t here yet.', 1, true) ~= nil)
  equal(true, report:find(':Specls models pull x', 1, true) ~= nil)
end)

test('how things stand is said with what to do', function()
  editor.open()
  editor.lua([[stub:notify('specls/status', { state = 'error', message = 'x isn’t here yet.',
    remedy = 'specls models pull x' })]])
  editor.until_is('error', state)
  editor.lua('vim.cmd.Specls()')
  local said = 'specls: error; x isn’t here yet; :Specls models pull x'
  equal({ said }, editor.lua('return notes'))
end)

test('subcommands are completed', function()
  editor.open()
  equal({ 'restart' }, editor.lua([[return vim.fn.getcompletion('Specls r', 'cmdline')]]))
  local scopes = editor.lua([[return vim.fn.getcompletion('Specls toggle ', 'cmdline')]])
  equal({ 'buffer', 'global', 'language' }, scopes)
end)

test('a subcommand that isn’t there is said', function()
  editor.open()
  editor.lua('vim.cmd.Specls("fly")')
  local note = editor.lua('return notes[1]')
  equal(true, vim.startswith(note, 'specls: fly is no subcommand; there are context, log'))
end)
