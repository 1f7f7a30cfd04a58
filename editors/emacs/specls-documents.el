;;; specls-documents.el --- What the server specls knows of buffers  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Each buffer with `specls-mode' is a document of the server.

;;; Code:

(require 'cl-lib)
(require 'url-util)
(require 'specls-client)
(require 'specls-text)

(defcustom specls-languages
  '((js . "javascript") (js2 . "javascript") (rjsx . "javascriptreact") (tsx . "typescriptreact")
    (c++ . "cpp") (sh . "shellscript") (bash . "shellscript") (emacs-lisp . "lisp")
    (objc . "objective-c") (cperl . "perl") (enh-ruby . "ruby") (text . "plaintext"))
  "The protocol's names of major modes that are called otherwise (without `-mode')."
  :type '(alist :key-type symbol :value-type string)
  :group 'specls)

(defvar-local specls-documents--uri nil "Of the current buffer, when the server knows it.")
(defvar-local specls-documents--version 0)
(defvar-local specls-documents--pending nil "The change that is being made: its protocol's range.")

(defun specls-documents-identifier ()
  "The protocol's identifier of the current buffer."
  (list :uri specls-documents--uri))

(defun specls-documents--language ()
  "The protocol's name of the language of the current buffer."
  (let ((name (replace-regexp-in-string "\\(?:-ts\\)?-mode\\'" "" (symbol-name major-mode))))
    (or (alist-get (intern name) specls-languages) name)))

(defun specls-documents-attach ()
  "Tell the server of the current buffer; start it for that."
  (specls-client-start)
  (when (and (specls-client-ready-p) (not specls-documents--uri))
    (setq specls-documents--uri (if buffer-file-name
                                 (specls-text-uri buffer-file-name)
                               (concat "untitled:" (url-hexify-string (buffer-name))))
          specls-documents--version 1)
    (specls-client-notify
     :textDocument/didOpen
     (list :textDocument (list :uri specls-documents--uri :languageId (specls-documents--language)
                               :version 1 :text (specls-text-whole)))))
  (add-hook 'before-change-functions #'specls-documents--before-change nil t)
  (add-hook 'after-change-functions #'specls-documents--after-change nil t)
  (add-hook 'after-revert-hook #'specls-documents--resend nil t)
  (add-hook 'after-save-hook #'specls-documents--saved nil t)
  (add-hook 'kill-buffer-hook #'specls-documents-detach nil t))

(defun specls-documents-detach ()
  "Let the server forget the current buffer."
  (when specls-documents--uri
    (specls-client-notify :textDocument/didClose (list :textDocument (specls-documents-identifier)))
    (setq specls-documents--uri nil))
  (remove-hook 'before-change-functions #'specls-documents--before-change t)
  (remove-hook 'after-change-functions #'specls-documents--after-change t)
  (remove-hook 'after-revert-hook #'specls-documents--resend t)
  (remove-hook 'after-save-hook #'specls-documents--saved t)
  (remove-hook 'kill-buffer-hook #'specls-documents-detach t))

(defun specls-documents--before-change (from to)
  "Remember where FROM and TO are, for the server."
  (when specls-documents--uri
    (setq specls-documents--pending
          (list from to (specls-text-position from) (specls-text-position to)))))

(defun specls-documents--after-change (from to before)
  "Tell of a change: FROM to TO is new, and BEFORE characters stood there.
Where Emacs had announced another one, the whole text is sent."
  (when specls-documents--uri
    (pcase-let ((`(,start ,end ,from-place ,to-place) specls-documents--pending))
      (specls-documents--send
       (if (and start (= start from) (= (- end start) before))
           (list :range (list :start from-place :end to-place)
                 :text (save-restriction (widen) (specls-text-of from to)))
         (list :text (specls-text-whole)))))
    (setq specls-documents--pending nil)))

(defun specls-documents--send (change)
  "Tell of one CHANGE of the current buffer."
  (cl-incf specls-documents--version)
  (specls-client-notify
   :textDocument/didChange
   (list :textDocument (list :uri specls-documents--uri :version specls-documents--version)
         :contentChanges (vector change))))

(defun specls-documents--resend ()
  "Send the whole text."
  (when specls-documents--uri
    (specls-documents--send (list :text (specls-text-whole)))))

(defun specls-documents--saved ()
  "The buffer was saved, perhaps under another name."
  (if (equal specls-documents--uri (specls-text-uri buffer-file-name))
      (specls-client-notify :textDocument/didSave
                            (list :textDocument (specls-documents-identifier)))
    (specls-documents-detach)
    (specls-documents-attach)))

(defun specls-documents--each (function)
  "Call FUNCTION in all buffers with `specls-mode'."
  (dolist (buffer (buffer-list))
    (when (buffer-local-value 'specls-mode buffer)
      (with-current-buffer buffer (funcall function)))))

(defun specls-documents-attach-all ()
  "Tell the server of all buffers with `specls-mode'."
  (specls-documents--each #'specls-documents-attach))

(defun specls-documents--forget-all ()
  "The server is gone, and with it what it knew."
  (specls-documents--each (lambda () (setq specls-documents--uri nil))))

(add-hook 'specls-client-ready-hook #'specls-documents-attach-all)
(add-hook 'specls-client-ended-hook #'specls-documents--forget-all)

(provide 'specls-documents)
;;; specls-documents.el ends here
