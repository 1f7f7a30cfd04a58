vim9script

# What the plugin does: when the server is asked, what becomes of its suggestions.

import autoload './specls/documents.vim'
import autoload './specls/ghost.vim'
import autoload './specls/offer.vim'
import autoload './specls/options.vim'
import autoload './specls/server.vim'
import autoload './specls/suggestion.vim'
import autoload './specls/utf16.vim'

const INVOKED = 1
const AUTOMATIC = 2

var enabled = true

# The request that runs: its number in the protocol, and the place where it was made.
var asked = 0
var timer = 0
var tick = 0

# -- when -----------------------------------------------------------------------------------

# Whether there are suggestions here at all.
export def Enabled(): bool
  return enabled && get(b:, 'specls_enabled', true)
enddef

# A buffer was entered, or its filetype was set.
export def Entered()
  documents.Open(bufnr())
  documents.Focus(bufnr())
enddef

# The server is gone.
def Gone()
  offer.Drop(true)
enddef

# The filetype was set, perhaps to another one.
export def Retyped(buffer: number)
  if documents.Known(buffer)
    documents.Reopen(buffer)
  else
    documents.Open(buffer)
  endif
enddef

export def InsertEntered()
  tick = b:changedtick
  Later()
enddef

# The text may have changed, or only the cursor moved.
export def Moved()
  var changed = b:changedtick != tick
  tick = b:changedtick
  if pumvisible()
    offer.Drop(true)
  elseif offer.Fits()
    offer.Show()
  elseif changed
    offer.Drop(true)
    Later()
  elseif asked == 0
    offer.Drop(true)
  endif
enddef

export def InsertLeft()
  offer.Drop(true)
  Forget()
enddef

# Ask when no key has been pressed for a moment.
def Later()
  timer_stop(timer)
  if !options.Get('auto') || !Enabled() || !documents.Known(bufnr())
    return
  endif
  timer = timer_start(options.Get('debounce'), (_) => Ask(AUTOMATIC))
enddef

# Drop the request that runs, if any.
def Forget()
  timer_stop(timer)
  if asked > 0
    server.Cancel(asked)
    asked = 0
  endif
enddef

def Ask(kind: number, Then: func() = null_function)
  Forget()
  if mode() !~ '^i' || pumvisible() || !documents.Known(bufnr())
    return
  endif
  var place = {buffer: bufnr(), lnum: line('.'), line: getline('.'), column: col('.') - 1}
  documents.Flush(place.buffer)
  var number = 0
  number = server.Request('textDocument/inlineCompletion', {
    textDocument: documents.Identifier(place.buffer),
    position: Position(place),
    context: {triggerKind: kind},
  }, (answer) => {
    if number == asked
      asked = 0
      Answered(answer, place)
      if Then != null_function
        Then()
      endif
    endif
  })
  asked = number
enddef

def Answered(answer: dict<any>, place: dict<any>)
  var result = get(answer, 'result', v:null)
  var items = type(result) == v:t_dict ? result.items : type(result) == v:t_list ? result : []
  if mode() !~ '^i' || pumvisible()
    return
  endif
  var made = mapnew(items, (_, item) => suggestion.Make(item, place))
    ->filter((_, each) => suggestion.Rest(each) != '')
  if !empty(made) || !offer.Fits()
    offer.Take(made)
  endif
enddef

# Whether a suggestion is shown that can be accepted.
export def Visible(): bool
  return offer.Visible()
enddef

# -- what users do --------------------------------------------------------------------------

# Accept what is shown: 'all', or its first 'word' or 'line'.
export def Accept(amount = 'all')
  if !Visible()
    return
  endif
  var current = offer.Current()
  var rest = suggestion.Rest(current)
  var piece = amount == 'word' ? suggestion.Word(rest) : amount == 'line' ? suggestion.Line(rest) : rest
  var whole = piece == rest || piece == ''
  ghost.Hide()
  suggestion.Insert(current, whole ? rest : piece, whole)
  documents.Flush(bufnr())
  if whole
    Finish(current)
  else
    server.Notify('textDocument/didPartiallyAcceptCompletion', {
      item: current.item, acceptedLength: suggestion.Accepted(current),
    })
    tick = b:changedtick
    offer.Keep(current)
  endif
enddef

# It's all in the buffer.
def Finish(accepted: dict<any>)
  offer.Clear()
  var command = get(accepted.item, 'command', v:null)
  if type(command) == v:t_dict
    server.Request('workspace/executeCommand', {
      command: command.command, arguments: get(command, 'arguments', []),
    }, (_) => {
    })
  endif
  tick = b:changedtick
  Later()
enddef

# Take the suggestion away until something is typed.
export def Dismiss()
  Forget()
  offer.Drop(false)
enddef

# Ask for suggestions here, more than one if there are.
export def Trigger()
  Ask(INVOKED)
enddef

# Show another suggestion; where there is only one, ask for more.
export def Next(step = 1)
  if offer.Cycle(step)
    return
  endif
  var seen = ghost.Seen()
  Ask(INVOKED, () => {
    if ghost.Seen() == seen
      offer.Cycle(step)
    endif
  })
enddef

# Turn suggestions on or off, everywhere or in this buffer only.
export def Enable(on: bool, here = false)
  if here
    b:specls_enabled = on
  else
    enabled = on
  endif
  if !on
    InsertLeft()
  endif
  redrawstatus
enddef

# For 'statusline': what the server does, in a word or two; empty where it does nothing.
export def Statusline(): string
  if !options.Wants(bufnr())
    return ''
  elseif !Enabled()
    return 'specls off'
  endif
  var state = server.State()
  if state.state == 'ready' || state.state == 'busy'
    return 'specls'
  elseif state.state == 'loading'
    return $'specls {get(state, 'progress', 0)}%'
  endif
  return 'specls ' .. state.state
enddef

# -- the protocol ---------------------------------------------------------------------------

def Position(place: dict<any>): dict<number>
  return {line: place.lnum - 1, character: utf16.Units(strpart(place.line, 0, place.column))}
enddef

server.on_ready->add(documents.OpenAll)
server.on_loaded->add(Later)
server.on_end->add(documents.ForgetAll)
server.on_end->add(Gone)
