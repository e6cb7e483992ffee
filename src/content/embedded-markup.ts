import * as Y from 'yjs'

/** Markup that says what is in XML embedded in other values: to be read by people, and to tell whether it changed. */
export function markupOf(type: Y.XmlFragment | Y.XmlText | Y.XmlHook): string {
  if (type instanceof Y.XmlText)
    return escaped(
      type
        .toDelta()
        .map(({ insert }: { insert: unknown }) => (typeof insert === 'string' ? insert : ''))
        .join(''),
    )
  if (type instanceof Y.XmlHook) return `<${type.hookName}/>`
  return type.toArray().map(markupOf).join('')
}
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
