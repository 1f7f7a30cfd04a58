vim9script

# What users set, in the dictionary g:specls, with a default for each.

const DEFAULTS: dict<any> = {
  # The command that starts the server.
  cmd: ['specls', 'serve'],
  # Filetypes with suggestions; '*' is every one but those in `except`.
  filetypes: ['*'],
  except: ['gitcommit', 'gitrebase', 'help', 'netrw', 'qf'],
  # The server's settings: docs/settings.md.
  settings: {},
  # Milliseconds without a key until the server is asked.
  debounce: 40,
  # Whether suggestions come unasked.
  auto: true,
  # Whether the keys of :help specls-keys are set, those that aren't taken.
  keys: true,
}

export def Get(name: string): any
  return get(get(g:, 'specls', {}), name, DEFAULTS[name])
enddef

# What's wrong with g:specls, in words; empty if nothing is.
export def Problem(): string
  var given = get(g:, 'specls', {})
  if type(given) != v:t_dict
    return 'g:specls has to be a dictionary'
  endif
  for [name, value] in items(given)
    if !has_key(DEFAULTS, name)
      return $"g:specls has '{name}', which is no setting; there are: {join(sort(keys(DEFAULTS)), ', ')}"
    elseif type(value) != type(DEFAULTS[name]) && !(type(DEFAULTS[name]) == v:t_bool && type(value) == v:t_number)
      return $"g:specls.{name} has the wrong type: {string(value)}"
    endif
  endfor
  return ''
enddef

# Whether there are to be suggestions in a buffer.
export def Wants(buffer: number): bool
  var filetype = getbufvar(buffer, '&filetype')
  if getbufvar(buffer, '&buftype') != '' || filetype == ''
    return false
  endif
  var wanted = Get('filetypes')
  return index(wanted, filetype) >= 0 || index(wanted, '*') >= 0 && index(Get('except'), filetype) < 0
enddef
