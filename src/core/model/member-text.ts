import { endOfString } from './json-depth.ts'

/**
 * Returns the text of a member of a JSON object; null if it has no such member. If several members have the name,
 * the last one counts, as for `JSON.parse`. The text must be JSON. Reads it once.
 */
export function memberText(text: string, name: string): string | null {
  let depth = 0
  let found: string | null = null
  let isNamed = false
  let from = 0
  const endMember = (to: number): void => {
    if (isNamed) found = text.slice(from, to)
    isNamed = false
    from = 0
  }
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      const end = endOfString(text, at + 1)
      if (depth === 1 && from === 0) isNamed = JSON.parse(text.slice(at, end + 1)) === name
      at = end
    } else if (character === ':' && depth === 1) from = at + 1
    else if (character === '{' || character === '[') depth += 1
    else if (character === ',' && depth === 1) endMember(at)
    else if (character === '}' || character === ']') {
      if (depth === 1) endMember(at)
      depth -= 1
    }
  }
  return found
}
