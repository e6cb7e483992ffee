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
