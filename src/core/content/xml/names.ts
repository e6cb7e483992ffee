/**
 * Conversion of names. Shared types accept any string as a name, but XML does not. A character that XML does
 * not allow at its position is written as `_xHHHH_` (hexadecimal code point), as in ISO/IEC 9075-14
 * (SQL/XML). A `_` that would be read as the start of such an escape is also written in this form. In this
 * folder, names in trees are in the XML form; `storedName` returns the stored form.
 */

const start =
  ':A-Z_a-z\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff\\u200c\\u200d' +
  '\\u2070-\\u218f\\u2c00-\\u2fef\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd\\u{10000}-\\u{effff}'
const later = `${start}\\-.0-9\\u00b7\\u0300-\\u036f\\u203f\\u2040`

/** A name in XML 1.0, fifth edition, production 5. */
const plainName = new RegExp(`^[${start}][${later}]*$`, 'u')
const startCharacter = new RegExp(`[${start}]`, 'u')
const laterCharacter = new RegExp(`[${later}]`, 'u')
const escaped = /_x([0-9A-F]{4,6})_/g
const mayBeEscaped = /_x[0-9A-F]{4,6}_/
const emptyName = '_x_'
/**
 * A name that XML parsers lose if they build plain objects. When this name is written, its first character is
 * an escape. As input, the name is accepted with and without the escape.
 */
const prototypeName = '__proto__'

export function xmlName(stored: string): string {
  if (stored === '') return emptyName
  if (stored === prototypeName) return `${hex('_')}${stored.slice(1)}`
  if (plainName.test(stored) && !mayBeEscaped.test(stored))
    return stored === emptyName ? `${hex('_')}x_` : stored
  let [name, at] = ['', 0]
  for (const character of stored) {
    const allowed = (at === 0 ? startCharacter : laterCharacter).test(character)
    const ambiguous = character === '_' && /^_x(?:[0-9A-F]{4,6})?_/.test(stored.slice(at, at + 9))
    name += allowed && !ambiguous ? character : hex(character)
    at += character.length
  }
  return name
}

const hex = (character: string): string =>
  `_x${(character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}_`

/** Returns the stored form of an XML name. An escape that `xmlName` would not have written is not decoded. */
export function storedName(name: string): string {
  if (!name.includes('_x')) return name
  if (name === emptyName) return ''
  const stored = name.replace(escaped, (whole, digits: string) => {
    const point = Number.parseInt(digits, 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })
  return xmlName(stored) === name ? stored : name
}

const notInXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g

/**
 * Replaces each character that XML 1.0 does not allow (production 2) with U+FFFD. The length of the text does
 * not change.
 */
export function xmlText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed()
  return wellFormed.replace(notInXml, '\ufffd')
}

/** Compares attributes by their names. */
export const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number =>
  a === b ? 0 : a < b ? -1 : 1
