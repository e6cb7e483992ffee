import type { XmlTextSchema } from '../check-xmltext.ts'

/** Lexical with the nodes of its rich text, list, link, code, table, hashtag, mark and overflow packages. */
export const lexicalSchema: XmlTextSchema = {
  is: 'xmltext',
  contentKey: 'root',
  topNode: 'root',
  typeAttribute: '__type',
  texts: new Set([
    'autolink',
    'code',
    'heading',
    'link',
    'list',
    'listitem',
    'mark',
    'overflow',
    'paragraph',
    'quote',
    'table',
    'tablecell',
    'tablerow',
  ]),
  maps: new Set(['code-highlight', 'hashtag', 'linebreak', 'tab', 'text']),
  elements: new Set(['horizontalrule']),
}
