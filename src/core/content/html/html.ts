import type { BlockFormat } from '../blocks/block-format.ts'
import { HtmlReader } from './html-reader.ts'
import { parseHtml } from './parse-html.ts'
import { writeHtml } from './write-html.ts'

/** HTML as browsers read it. Every text is well-formed. */
export const htmlFormat: BlockFormat = {
  name: 'html',
  tables: 'all',
  hasAllMarks: true,
  parse: (text, features) => new HtmlReader(features).read(parseHtml(text)),
  write: writeHtml,
}
