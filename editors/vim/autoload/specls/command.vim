vim9script

# :Specls

import autoload '../specls.vim'
import autoload './documents.vim'
import autoload './options.vim'
import autoload './server.vim'
import autoload './utf16.vim'

def Actions(): dict<func()>
  return {
    context: Context, disable: Disable, enable: Enable, log: Log, restart: server.Restart,
    start: Start, stats: Stats, status: Status, stop: server.Stop, toggle: Toggle,
  }
enddef

export def Names(lead: string, _: string, _: number): list<string>
  return keys(Actions())->sort()->filter((_, name) => stridx(name, lead) == 0)
enddef

export def Run(name: string)
  var actions = Actions()
  if !has_key(actions, name)
    server.Say($'there is no :Specls {name}; there are: {join(Names("", "", 0), ", ")}')
    return
  endif
  actions[name]()
enddef

def Start()
  server.Start()
  documents.OpenAll()
enddef

def Disable()
  specls.Enable(false)
enddef

def Enable()
  specls.Enable(true)
enddef

def Toggle()
  specls.Enable(!specls.Enabled())
enddef

def Log()
  Scratch('log', server.Log())
enddef

def Stats()
  Ask('specls/stats', {})
enddef

def Status()
  server.Say(Sentence(), 'None')
enddef

# What the server does, in a sentence.
def Sentence(): string
  if !specls.Enabled()
    return 'suggestions are turned off: `:Specls enable`'
  elseif !options.Wants(bufnr())
    return 'no suggestions in this buffer: its filetype or kind is none of those in g:specls'
  endif
  return server.Sentence()
enddef

# What the model is given at the cursor.
def Context()
  if !documents.Known(bufnr())
    server.Say('the server doesn''t know this buffer: see `:Specls status`')
    return
  endif
  documents.Flush(bufnr())
  var before = strpart(getline('.'), 0, col('.') - 1)
  Ask('specls/context', {
    textDocument: documents.Identifier(bufnr()),
    position: {line: line('.') - 1, character: utf16.Units(before)},
  })
enddef

def Ask(method: string, params: dict<any>)
  if !server.Ready()
    server.Say('the server isn''t running: see `:Specls status`')
    return
  endif
  server.Request(method, params, (answer) => {
    var told = get(answer, 'result', get(answer, 'error', {}))
    Scratch(fnamemodify(method, ':t'), Lines(told, ''))
  })
enddef

# A value as lines, what belongs to it indented.
def Lines(value: any, indent: string): list<string>
  var lines: list<string> = []
  if type(value) == v:t_dict
    for [name, each] in items(value)
      lines += Entry(name .. ':', each, indent)
    endfor
  elseif type(value) == v:t_list
    for each in value
      lines += Entry('-', each, indent)
    endfor
  else
    lines += mapnew(split(Plain(value), "\n", true), (_, line) => indent .. line)
  endif
  return lines
enddef

def Entry(name: string, value: any, indent: string): list<string>
  var several = type(value) == v:t_dict || type(value) == v:t_list
  if !several && stridx(Plain(value), "\n") < 0
    return [$'{indent}{name} {Plain(value)}']
  endif
  return [indent .. name] + Lines(value, indent .. '  ')
enddef

def Plain(value: any): string
  return type(value) == v:t_string ? value : json_encode(value)
enddef

# Show lines in a window of their own.
def Scratch(name: string, lines: list<string>)
  execute 'silent keepalt botright new' fnameescape($'specls://{name}')
  setlocal buftype=nofile bufhidden=wipe noswapfile nobuflisted modifiable
  silent :%delete _
  setline(1, lines)
  setlocal nomodifiable
enddef
