vim9script

# The server's process and what is said to it.

import autoload './options.vim'
import autoload './uri.vim'

# Restarts after a crash: so many, each after twice the time (milliseconds) of the one
# before; counted anew after so many seconds without one.
const RESTARTS = 4
const FIRST_WAIT = 1000
const FORGIVEN = 180
const LOG_LINES = 500

var job: job
var ready = false
var wanted = false
var crashes = 0
var started = 0
var lines: list<string> = []
var state: dict<any> = {state: 'stopped', message: ''}

# Set by specls.vim: called when the server is ready for documents, when its model is
# loaded, and when it's gone.
export var on_ready: list<func()> = []
export var on_loaded: list<func()> = []
export var on_end: list<func()> = []

# -- what it says of itself ---------------------------------------------------------------

# What the server said last of its state: `specls/status` of docs/protocol.md. Besides its
# states there is 'stopped'.
export def State(): dict<any>
  return state
enddef

# What was logged, newest last.
export def Log(): list<string>
  return copy(lines)
enddef

def Note(line: string)
  lines->add($'{strftime("%H:%M:%S")} {line}')
  if len(lines) > LOG_LINES
    lines->remove(0, len(lines) - LOG_LINES)
  endif
enddef

# A message for the user, kept in :messages.
export def Say(message: string, group = 'WarningMsg')
  execute 'echohl' group
  echomsg 'specls: ' .. message
  echohl None
enddef

def Become(name: string, message: string)
  state = {state: name, message: message}
  redrawstatus
enddef

# -- its life -----------------------------------------------------------------------------

export def Running(): bool
  return job != null_job && job_status(job) == 'run'
enddef

export def Ready(): bool
  return ready && Running()
enddef

# Start it, unless it runs. Says what is wrong if it can't be started, once.
export def Start()
  if wanted || Running()
    return
  endif
  wanted = true
  crashes = 0
  Launch()
enddef

def Launch()
  var command: list<string> = options.Get('cmd')
  if empty(command) || !executable(command[0])
    Become('error', $"there is no program '{get(command, 0, '')}': run `pipx install .` in the folder of specls, or set g:specls.cmd")
    Say(state.message)
    return
  endif
  started = localtime()
  Become('starting', '')
  job = job_start(command, {
    in_mode: 'lsp', out_mode: 'lsp', err_mode: 'nl', noblock: 1, stoponexit: 'term',
    out_cb: Received, exit_cb: Ended,
    err_cb: (_, line) => Note(line),
  })
  if !Running()
    return
  endif
  ch_sendexpr(job, {method: 'initialize', params: Parameters()}, {callback: Initialized})
enddef

def Parameters(): dict<any>
  var folder = getcwd()
  return {
    processId: getpid(),
    clientInfo: {name: 'Vim', version: $'{v:versionlong / 1000000}.{v:versionlong / 10000 % 100}.{v:versionlong % 10000}'},
    rootUri: uri.Of(folder),
    workspaceFolders: [{uri: uri.Of(folder), name: fnamemodify(folder, ':t')}],
    initializationOptions: options.Get('settings'),
    capabilities: {
      general: {positionEncodings: ['utf-16']},
      textDocument: {
        synchronization: {didSave: true},
        inlineCompletion: {dynamicRegistration: false},
      },
      experimental: {specls: {status: true}},
    },
  }
enddef

def Initialized(_: channel, answer: dict<any>)
  if has_key(answer, 'error')
    Become('error', answer.error.message)
    Say(state.message)
    return
  endif
  ready = true
  Become('ready', '')
  Notify('initialized', {})
  for Call in on_ready
    Call()
  endfor
enddef

def Ended(_: job, code: number)
  ready = false
  for Call in on_end
    Call()
  endfor
  if !wanted
    Become('stopped', '')
    return
  endif
  Note($'the server ended with code {code}')
  crashes = localtime() - started > FORGIVEN ? 1 : crashes + 1
  if crashes > RESTARTS
    wanted = false
    Become('error', $'the server ended {crashes} times (the last time with code {code}): see `:Specls log`, then `:Specls restart`')
    Say(state.message)
    return
  endif
  Become('starting', $'the server ended with code {code} and is started again')
  timer_start(FIRST_WAIT * float2nr(pow(2, crashes - 1)), (_) => {
    if wanted && !Running()
      Launch()
    endif
  })
enddef

# End it, and wait for that as long as half a second.
export def Stop()
  wanted = false
  if !Running()
    Become('stopped', '')
    return
  endif
  if ready
    ch_evalexpr(job, {method: 'shutdown'}, {timeout: 500})
    Notify('exit', {})
  endif
  ready = false
  ch_close_in(job)
enddef

export def Restart()
  if Running()
    on_end->add(StartOnce)
    Stop()
  else
    wanted = false
    Start()
  endif
enddef

def StartOnce()
  on_end->remove(index(on_end, StartOnce))
  timer_start(0, (_) => Start())
enddef

# -- messages -----------------------------------------------------------------------------

# Send a notification, if the server is ready.
export def Notify(method: string, params: dict<any>)
  if Ready()
    ch_sendexpr(job, {method: method, params: params})
  endif
enddef

# Send a request; its number, or 0 if the server isn't ready. Answer is called with the
# whole message.
export def Request(method: string, params: dict<any>, Answer: func(dict<any>)): number
  if !Ready()
    return 0
  endif
  var sent = ch_sendexpr(job, {method: method, params: params}, {
    callback: (_, message) => Answer(message)
  })
  return get(sent, 'id', 0)
enddef

# Tell the server that an answer isn't wanted any more.
export def Cancel(number: number)
  Notify('$/cancelRequest', {id: number})
enddef

def Received(_: channel, message: any)
  if type(message) != v:t_dict
    Note($'not understood: {string(message)}')
  elseif has_key(message, 'method') && has_key(message, 'id')
    # Nothing is announced that the server could ask for.
    ch_sendexpr(job, {id: message.id, error: {code: -32601, message: 'unknown method'}})
  elseif get(message, 'method', '') == 'specls/status'
    Follow(message.params)
  elseif get(message, 'method', '') == 'window/showMessage'
    Say(substitute(message.params.message, '^specls: ', '', ''),
      get(['ErrorMsg', 'ErrorMsg', 'WarningMsg'], message.params.type, 'None'))
  elseif get(message, 'method', '') == 'window/logMessage'
    Note(message.params.message)
  endif
enddef

def Follow(told: dict<any>)
  var before = state.state
  state = told
  # 'busy' comes and goes with each key, and is shown nowhere.
  if told.state != before && told.state != 'busy' && before != 'busy' || told.state == 'loading'
    redrawstatus
  endif
  if told.state == 'ready' && before == 'loading'
    for Call in on_loaded
      Call()
    endfor
  endif
enddef

# What the server says of itself, with what's to be done about it.
export def Sentence(): string
  var parts = [get(state, 'message', ''), get(state, 'remedy', '')]
  var told = filter(parts, (_, part) => type(part) == v:t_string && part != '')
  return empty(told) ? state.state : join(told, ' ')
enddef
