;;; specls-lsp.el --- Ghost text from a model, shown by lsp-mode  -*- lexical-binding: t; -*-

;; Author: The specls authors
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1") (lsp-mode "10.0.0"))
;; Keywords: convenience, languages, completion
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Has lsp-mode start specls beside other servers, and show its suggestions in lsp-mode's own way:
;;
;;   (require 'specls-lsp)
;;   (add-hook 'prog-mode-hook #'lsp-deferred)
;;
;; lsp-mode asks when Emacs has been idle for `lsp-idle-delay' (half a second at first), and again
;; at each key.  specls.el does without lsp-mode, is quicker and keeps what still fits; don't turn
;; both on in a buffer.

;;; Code:

(require 'lsp-mode)
(require 'lsp-inline-completion)
(require 'specls-client)
(require 'specls-ghost)
(require 'specls-text)

(defcustom specls-lsp-modes '(prog-mode text-mode conf-mode)
  "Major modes (or parents of them) where `lsp-mode' starts specls."
  :type '(repeat symbol)
  :group 'specls)

(defcustom specls-lsp-delay 0.1
  "Seconds without a key until `lsp-mode' asks; `lsp-idle-delay' at least."
  :type 'number
  :group 'specls)

(defvar specls-lsp--state nil "What the server said last of itself: `specls/status'.")

(defvar specls-lsp-mode-line '(:eval (specls-lsp--word))
  "What the server does, for `mode-line-misc-info'.")
(put 'specls-lsp-mode-line 'risky-local-variable t)

(defun specls-lsp--word ()
  "What the server does, where it's used."
  (when (and specls-lsp--state (bound-and-true-p lsp-inline-completion-mode))
    (concat " " (specls-client-word specls-lsp--state))))

(defun specls-lsp--told (_workspace params)
  "The server told PARAMS of its state."
  (setq specls-lsp--state (list :state (lsp-get params :state)
                                :message (lsp-get params :message)
                                :remedy (lsp-get params :remedy)
                                :progress (lsp-get params :progress)))
  (force-mode-line-update t))

(defun specls-lsp-status ()
  "Say what the server does, and what is wrong."
  (interactive)
  (message "specls: %s" (specls-client-sentence (or specls-lsp--state '(:state "stopped")))))

(lsp-register-client
 (make-lsp-client
  :server-id 'specls
  :add-on? t
  :priority -10
  :new-connection (lsp-stdio-connection (lambda () specls-command))
  :activation-fn (lambda (_file mode)
                   (apply #'provided-mode-derived-p mode specls-lsp-modes))
  :initialization-options (lambda () (or specls-settings (make-hash-table)))
  :custom-capabilities '((experimental . ((specls . ((status . t))))))
  :notification-handlers (lsp-ht ("specls/status" #'specls-lsp--told))))

(defun specls-lsp--configure ()
  "Ask as quickly as `lsp-mode' can in this buffer, and show the state."
  (when (lsp-find-workspace 'specls (buffer-file-name))
    (setq-local lsp-inline-completion-idle-delay specls-lsp-delay)
    (unless (memq 'specls-lsp-mode-line mode-line-misc-info)
      (setq-local mode-line-misc-info
                  (append mode-line-misc-info '(specls-lsp-mode-line))))))

(add-hook 'lsp-configure-hook #'specls-lsp--configure)

;;;; Accepting a part, which lsp-mode doesn't know

(defun specls-lsp-accept-word ()
  "Put the first word of the suggestion into the buffer."
  (interactive)
  (specls-lsp--accept #'specls-ghost-word))

(defun specls-lsp-accept-line ()
  "Put the first line of the suggestion into the buffer."
  (interactive)
  (specls-lsp--accept #'specls-ghost-line))

(defun specls-lsp--accept (part)
  "Accept what the function PART takes of the suggestion; the rest stays."
  (let* ((item (elt lsp-inline-completion--items lsp-inline-completion--current))
         (text (lsp:inline-completion-item-insert-text item))
         (range (lsp:inline-completion-item-range? item))
         (at lsp-inline-completion--start-point)
         (start (if range (lsp--position-to-point (lsp:range-start range)) at))
         (rest (substring text (- at start)))
         (piece (funcall part rest)))
    (if (string= piece rest)
        (lsp-inline-completion-accept)
      (lsp-inline-completion--clear-overlay)
      (goto-char at)
      (insert piece)
      (setq lsp-inline-completion--start-point (point))
      (lsp-notify "textDocument/didPartiallyAcceptCompletion"
                  (list :item item
                        :acceptedLength (specls-text-units
                                         (substring text 0 (- (point) start)))))
      (when range
        (let ((here (lsp--cur-position)))
          (lsp:set-range-end range (lsp-make-position :line (plist-get here :line)
                                                      :character (plist-get here :character)))))
      (lsp-inline-completion-show-overlay))))

(let ((map lsp-inline-completion-active-map))
  (lsp-inline-completion--define-key map (kbd "TAB") #'lsp-inline-completion-accept 'keep)
  (lsp-inline-completion--define-key map (kbd "<tab>") #'lsp-inline-completion-accept 'keep)
  (lsp-inline-completion--define-key map (kbd "C-<right>") #'specls-lsp-accept-word 'keep)
  (lsp-inline-completion--define-key map (kbd "C-<down>") #'specls-lsp-accept-line 'keep))

(provide 'specls-lsp)
;;; specls-lsp.el ends here
