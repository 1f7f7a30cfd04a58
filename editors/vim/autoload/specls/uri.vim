vim9script

# Names of files, as the protocol has them.

# The URI of a file.
export def Of(path: string): string
  var name = fnamemodify(path, ':p')
  if has('win32')
    name = '/' .. substitute(name, '\\', '/', 'g')
  endif
  if len(name) > 1
    name = substitute(name, '/$', '', '')
  endif
  return 'file://' .. substitute(name, '[^A-Za-z0-9_.~/-]', (each) => Bytes(each[0]), 'g')
enddef

def Bytes(character: string): string
  return range(strlen(character))
    ->mapnew((_, at) => printf('%%%02X', char2nr(strpart(character, at, 1))))
    ->join('')
enddef
