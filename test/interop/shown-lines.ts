/** Types of nodes that are part of the line around them. */
const inlineTypes: ReadonlySet<unknown> = new Set(['text', 'link', 'mention'])

const breakTypes: ReadonlySet<unknown> = new Set(['hardBreak', 'hard_break', 'linebreak'])

/** Members that contain nodes, in the JSON of the editors. */
const contentMembers = ['content', 'children', 'rows', 'cells'] as const

/**
 * Returns the lines of text that an editor shows, in order, without blank lines. The content is given as the
 * JSON of the editor.
 */
export function joinedLines(shown: unknown): readonly string[] {
  let text = ''
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const each of value) visit(each)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return
    const node = value as Readonly<Record<string, unknown>>
    const own = node.text ?? node.insert
    const isInline = inlineTypes.has(node.type) || typeof own === 'string' || breakTypes.has(node.type)
    if (typeof own === 'string') text += own
    if (breakTypes.has(node.type)) text += '\n'
    for (const name of contentMembers) {
      if (node[name] === undefined) continue
      if (typeof node[name] === 'string') text += node[name]
      visit(node[name])
      if (!isInline) text += '\n'
    }
  }
  visit(shown)
  return text.split('\n').filter((line) => line.trim() !== '')
}
