import type { TemplateName } from '../../src/cli/project-template.ts'

/**
 * Properties of a template that the walk needs. All templates have these things in common:
 *
 * - `npm run dev`, `npm run build` and `npm start` with the variables `PORT` and `TOKEN_SECONDS`. The app prints its
 *   address.
 * - The page takes `name`, `role` and `document` from its query, and sends the query to its endpoint for tokens.
 * - With `hasComments`: each thread in `#comments` is an `article`, with the quoted text in `q`, its status as its
 *   class, a field `Reply`, and a button `Resolve`. The field `Comment` adds a thread. `#selected` is the selected text.
 * - With `hasSuggestions`: the switch `Suggesting`, and the suggestions in the text, with buttons to accept them.
 * - `#status` has `saved`, or begins with `offline`. `#role` has the role. `#users` has the names of the users.
 */
export interface TemplateCase {
  /** Selector of the element that users type into. */
  readonly editor: string
  /** Selector of the carets of other users, each with the name of its user. They are in the editor. */
  readonly caret: string
  /** Whether the page has a panel with comments. */
  readonly hasComments?: boolean
  /** Whether users can suggest changes. */
  readonly hasSuggestions?: boolean
  /** Maximum size in kilobytes of all scripts of the page, each compressed with gzip. */
  readonly gzipKilobytesMax: number
}

export const templateCases: Readonly<Record<TemplateName, TemplateCase>> = {
  'tiptap-express': {
    editor: '.tiptap',
    caret: '.collaboration-carets__caret',
    gzipKilobytesMax: 180,
  },
  'tiptap-next': {
    editor: '.tiptap',
    caret: '.collaboration-carets__caret',
    gzipKilobytesMax: 400,
  },
  'codemirror-vite': {
    editor: '.cm-content',
    caret: '.cm-ySelectionCaret',
    gzipKilobytesMax: 175,
  },
  blocknote: {
    editor: '.bn-editor',
    caret: '.bn-collaboration-cursor__base',
    hasComments: true,
    hasSuggestions: true,
    gzipKilobytesMax: 430,
  },
}
