import type { BlockFormat } from '../blocks/block-format.ts'
import { parseMarkdown } from './parse-markdown.ts'
import { writeMarkdown } from './write-markdown.ts'

/** CommonMark with the extensions of GFM. */
export const markdownFormat: BlockFormat = {
  name: 'markdown',
  tables: 'simple',
  hasAllMarks: false,
  parse: parseMarkdown,
  write: writeMarkdown,
}

/** Returns the format of a part of a longer text. @param definitions as for `parseMarkdown` */
export const markdownPart = (definitions: string): BlockFormat => ({
  ...markdownFormat,
  parse: (text, features) => parseMarkdown(text, features, definitions),
})
