/** Differences between a Markdown parser of an editor library and the server, and the reason for each of them. */
export interface MarkdownDifference {
  readonly parser: '@tiptap/markdown' | 'prosemirror-markdown'
  readonly difference: string
  readonly decision: string
  /** Numbers of examples of CommonMark 0.31, and of the extensions of GFM. */
  readonly commonMark?: string
  readonly gfm?: string
}

/** Differences of all texts, which the comparison leaves out. The result of the server is the intended one. */
export const generalDifferences: readonly string[] = [
  'Line breaks and runs of spaces: the server stores one space, as a browser shows them. `@tiptap/markdown` stores the source.',
  'Addresses: the server stores them as they are written. `prosemirror-markdown` stores them percent-encoded.',
  'Empty paragraphs: the first block of a list item must be a paragraph in the schemas of the editors, so the server adds one.',
  'Loose lists: the server does not store the attribute `tight` of `prosemirror-markdown`, because other schemas do not have it.',
  'Marks of nodes that are not text: y-prosemirror does not store them, for example the link of an image.',
  'Repeated marks: `@tiptap/markdown` nests a mark in itself, and the schema of Tiptap excludes this.',
]

export const markdownDifferences: readonly MarkdownDifference[] = [
  {
    parser: 'prosemirror-markdown',
    difference: 'HTML is text that can have formatting. CommonMark ends no block and no word of HTML early.',
    decision:
      'The server follows CommonMark: HTML is literal text. Formatting inside a tag would destroy it.',
    commonMark:
      '21 31 148 150-151 155-156 158-159 161-166 169-173 176-180 182 185-186 189 344 475-477 524 536 630-631 642-643',
  },
  {
    parser: 'prosemirror-markdown',
    difference: 'The attribute of a code block has the whole info text, with its leading space.',
    decision:
      'The server stores the first word, which is the language. Editors choose the highlighting by it.',
    commonMark: '24 34 143 146',
  },
  {
    parser: 'prosemirror-markdown',
    difference: 'A list that starts with 0 starts with 1.',
    decision: 'The server follows CommonMark.',
    commonMark: '267',
  },
  {
    parser: 'prosemirror-markdown',
    difference: 'The end of an inner emphasis also ends the outer one.',
    decision: 'The server follows CommonMark.',
    commonMark: '369 373 389 407-408 418 425-426 432',
  },
  {
    parser: 'prosemirror-markdown',
    difference: 'The description of an image is the text up to the first formatting.',
    decision: 'The server follows CommonMark: it is the whole text.',
    commonMark: '520 573-577 585 589',
  },
  {
    parser: 'prosemirror-markdown',
    difference: 'Addresses without markup are text.',
    decision: 'The server follows GFM: they are links.',
    commonMark: '602 608 611-612',
    gfm: '13-23',
  },
  {
    parser: '@tiptap/markdown',
    difference: 'HTML becomes nodes and marks, and unknown elements disappear with their content.',
    decision: 'The server stores HTML as text, so that no content is lost. The format `html` reads HTML.',
    commonMark:
      '21 31 148-149 151-162 164-191 308-309 344 475-477 494 524 526 536 538 613-617 623 625-631 642-643',
    gfm: '24',
  },
  {
    parser: '@tiptap/markdown',
    difference: 'Character references are not decoded.',
    decision: 'The server follows CommonMark.',
    commonMark: '25 32-34 503 506',
  },
  {
    parser: '@tiptap/markdown',
    difference: 'Indented fences of code have no content.',
    decision: 'The server follows CommonMark.',
    commonMark: '131-133 136',
  },
  {
    parser: '@tiptap/markdown',
    difference: 'The language of a code block is the whole info text.',
    decision:
      'The server stores the first word, which is the language. Editors choose the highlighting by it.',
    commonMark: '143 146',
  },
  {
    parser: '@tiptap/markdown',
    difference:
      'Ordered lists have a parser of their own, which reads numbers, indentation and nested blocks differently.',
    decision: 'The server follows CommonMark.',
    commonMark: '254 263 266-267 271 273-274 283 286-290 293 297 299 302 311 313 324',
  },
  {
    parser: '@tiptap/markdown',
    difference: 'Some list items have text without a paragraph, or a paragraph instead of a heading.',
    decision: 'The server follows CommonMark. The schema of Tiptap requires a paragraph.',
    commonMark: '278-279 300',
  },
  {
    parser: '@tiptap/markdown',
    difference: 'Links in links, brackets in links, and letters that fold to several ones.',
    decision: 'The server follows CommonMark.',
    commonMark: '512 518-519 528 532-533 540',
  },
  {
    parser: '@tiptap/markdown',
    difference: 'Images in a line are blocks inside a paragraph, which the schema of Tiptap does not allow.',
    decision: 'The server ends the paragraph, unless the document has images in lines.',
    commonMark: '517 520 531 579 587',
  },
  {
    parser: '@tiptap/markdown',
    difference: 'The description of an image is the Markdown of its text.',
    decision: 'The server follows CommonMark: it is the text without formatting.',
    commonMark: '573-577 585 589',
  },
  {
    parser: '@tiptap/markdown',
    difference: 'A table whose rows have different lengths.',
    decision: 'The server follows GFM.',
    gfm: '6',
  },
]

/** Returns the examples with a difference, named like `CommonMark 21`. */
export function examplesOf({ commonMark = '', gfm = '' }: MarkdownDifference): readonly string[] {
  return [
    ...numbersIn(commonMark).map((number) => `CommonMark ${number}`),
    ...numbersIn(gfm).map((number) => `GFM ${number}`),
  ]
}

const numbersIn = (list: string): number[] =>
  list
    .split(' ')
    .filter((range) => range !== '')
    .flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number)
      return Array.from({ length: last - first + 1 }, (_, index) => first + index)
    })
