;;; specls.el --- Ghost text from a model on your own machine  -*- lexical-binding: t; -*-

;; Author: The specls authors
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: convenience, languages, completion
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Shows what a language model would write next as ghost text behind the cursor.  The model runs
;; in the language server `specls serve'.
;;
;;   (require 'specls)
;;   (global-specls-mode)
;;
;; This talks to the server itself, so it works beside Eglot (which knows one server for a buffer),
;; beside lsp-mode, and without either.  Those who'd rather have lsp-mode start the server and show
;; the ghost text in its own way load specls-lsp.el instead.

;;; Code:

(require 'specls-client)
(require 'specls-documents)
(require 'specls-ghost)
(require 'specls-text)

(defcustom specls-delay 0.05
  "Seconds without a key until the server is asked."
  :type 'number
  :group 'specls)

(defcustom specls-automatic t
  "Whether suggestions come by themselves; else with \\[specls-trigger] only."
  :type 'boolean
  :group 'specls)

(defcustom specls-inhibit-functions '(specls-menu-shown-p)
  "Functions without arguments; where one returns non-nil, nothing is suggested."
  :type 'hook
  :group 'specls)

(defconst specls--invoked 1)
(defconst specls--automatic 2)

(defvar-local specls--timer nil "What will ask the server in a moment.")
(defvar-local specls--asked 0 "How many requests were made; an older one's answer is dropped.")
(defvar-local specls--tick 0 "The buffer's `buffer-chars-modified-tick' after the last command.")

;;;; When the server is asked

(defun specls-menu-shown-p ()
  "Whether a menu of completions is open."
  (or completion-in-region-mode (bound-and-true-p company-candidates)))

(defun specls--after-command ()
  "Keep ghost text that still fits; else drop it.
Ask anew if something was changed."
  (let ((changed (/= specls--tick (buffer-chars-modified-tick))))
    (setq specls--tick (buffer-chars-modified-tick))
    (cond ((run-hook-with-args-until-success 'specls-inhibit-functions) (specls-ghost-drop t))
          ((specls-ghost-refresh))
          (changed (specls-ghost-drop t) (specls--later))
          (t (specls-ghost-drop t)))))

(defun specls--later ()
  "Ask for suggestions when no key has been pressed for a moment."
  (specls--forget)
  (when (and specls-automatic (not buffer-read-only))
    (setq specls--timer
          (run-with-idle-timer specls-delay nil #'specls--ask (current-buffer) specls--automatic))))

(defun specls--forget ()
  "Ask no more, and want no answer any more."
  (setq specls--asked (1+ specls--asked))
  (when specls--timer
    (cancel-timer specls--timer)
    (setq specls--timer nil)))

(defun specls--ask (buffer kind &optional then)
  "Ask for suggestions at point of BUFFER; KIND is the protocol's.
When they are shown, THEN is called."
  (when (and (buffer-live-p buffer) (eq buffer (window-buffer)))
    (with-current-buffer buffer
      (unless (run-hook-with-args-until-success 'specls-inhibit-functions)
        (specls--forget)
        (let ((number specls--asked)
              (place (specls-ghost-place)))
          (specls-client-request
           :textDocument/inlineCompletion
           (list :textDocument (specls-documents-identifier)
                 :position (specls-text-position (point))
                 :context (list :triggerKind kind))
           (lambda (result)
             (when (buffer-live-p buffer)
               (with-current-buffer buffer
                 (when (eql number specls--asked)
                   (specls-ghost-offer (append (plist-get result :items) nil) place)
                   (when then (funcall then))))))))))))

;;;; What users do

(defun specls-accept ()
  "Put the suggestion that is shown into the buffer."
  (interactive)
  (specls--accept #'identity))

(defun specls-accept-word ()
  "Put the first word of the suggestion into the buffer."
  (interactive)
  (specls--accept #'specls-ghost-word))

(defun specls-accept-line ()
  "Put the first line of the suggestion into the buffer."
  (interactive)
  (specls--accept #'specls-ghost-line))

(defun specls--accept (part)
  "Accept what the function PART takes of the suggestion.
Ask anew when all of it is in."
  (when (specls-ghost-accept part)
    (setq specls--tick (buffer-chars-modified-tick))
    (specls--later))
  (setq specls--tick (buffer-chars-modified-tick)))

(defun specls-dismiss ()
  "Take the suggestion away until something is typed."
  (interactive)
  (specls--forget)
  (specls-ghost-drop nil))

(defun specls-trigger ()
  "Ask for suggestions at point, more than one if there are."
  (interactive)
  (specls--ask (current-buffer) specls--invoked))

(defun specls-next (&optional step)
  "Show the suggestion STEP further on; where there is only one, ask for more."
  (interactive)
  (unless (specls-ghost-cycle (or step 1))
    (specls--ask (current-buffer) specls--invoked (lambda () (specls-ghost-cycle (or step 1))))))

(defun specls-previous ()
  "Show the suggestion before the one that is shown."
  (interactive)
  (specls-next -1))

(defun specls-status ()
  "Say what the server does, and what is wrong."
  (interactive)
  (message "specls: %s" (specls-client-sentence)))

(defun specls-restart ()
  "End the server and start it again."
  (interactive)
  (specls-client-stop)
  (specls-client-start))

(defun specls-stop ()
  "End the server."
  (interactive)
  (specls-client-stop))

;;;; The modes

(defvar specls-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "M-RET") #'specls-trigger)
    map)
  "Keys in buffers with suggestions.")

(let ((map specls-ghost-map))
  (define-key map (kbd "TAB") #'specls-accept)
  (define-key map (kbd "<tab>") #'specls-accept)
  (define-key map (kbd "C-<right>") #'specls-accept-word)
  (define-key map (kbd "M-f") #'specls-accept-word)
  (define-key map (kbd "C-<down>") #'specls-accept-line)
  (define-key map (kbd "C-e") #'specls-accept-line)
  (define-key map (kbd "M-n") #'specls-next)
  (define-key map (kbd "M-p") #'specls-previous)
  (define-key map (kbd "C-g") #'specls-dismiss))

;;;###autoload
(define-minor-mode specls-mode
  "Suggestions of a language model as ghost text in this buffer.

While ghost text is shown:
\\{specls-ghost-map}"
  :lighter (:eval (concat " " (specls-client-word)))
  :group 'specls
  (cond (specls-mode
         (setq specls--tick (buffer-chars-modified-tick))
         (add-hook 'post-command-hook #'specls--after-command nil t)
         (specls-documents-attach))
        (t
         (remove-hook 'post-command-hook #'specls--after-command t)
         (specls-dismiss)
         (specls-documents-detach))))

(defun specls--turn-on ()
  "Turn `specls-mode' on in files where code or text is written."
  (when (and buffer-file-name
             (derived-mode-p 'prog-mode 'conf-mode 'text-mode)
             (not buffer-read-only))
    (specls-mode)))

;;;###autoload
(define-globalized-minor-mode global-specls-mode specls-mode specls--turn-on
  :group 'specls)

(provide 'specls)
;;; specls.el ends here
