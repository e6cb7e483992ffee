import type { BlockMarks } from '../blocks/block.ts'

/** The smallest weight that browsers show as bold. */
const boldMin = 600

type MutableMarks = { -readonly [Name in keyof BlockMarks]: BlockMarks[Name] }
type SimpleMark = Exclude<keyof BlockMarks, 'link'>

/**
 * Returns the marks of the text in an element with inline styles, as word processors write them. A style also
 * takes back a mark that the name of the element or an outer element states.
 * @param style the attribute `style`; null without one
 */
export function styledMarks(marks: BlockMarks, style: string | null): BlockMarks {
  if (style === null) return marks
  const styled: MutableMarks = { ...marks }
  const set = (mark: SimpleMark, isSet: boolean | null): void => {
    if (isSet) styled[mark] = true
    else if (isSet === false) delete styled[mark]
  }
  for (const { name, value } of declarations(style))
    switch (name) {
      case 'font-weight':
        set('bold', isBold(value))
        break
      case 'font-style':
        set('italic', isItalic(value))
        break
      case 'text-decoration':
      case 'text-decoration-line':
        set('strike', isDecorated(value, 'line-through'))
        set('underline', isDecorated(value, 'underline'))
        break
      case 'vertical-align':
        set('subscript', isRaised(value, 'sub'))
        set('superscript', isRaised(value, 'super'))
    }
  return styled
}

/**
 * Returns whether white space in an element with inline styles stays as it is; null if the styles do not state it.
 * @param style the attribute `style`; null without one
 */
export function keepsSpaces(style: string | null): boolean | null {
  if (style === null) return null
  const stated = declarations(style).findLast(({ name }) => name === 'white-space')
  return stated === undefined ? null : ['pre', 'pre-wrap', 'break-spaces'].includes(stated.value)
}

const declarations = (style: string): readonly { readonly name: string; readonly value: string }[] =>
  style
    .toLowerCase()
    .split(';')
    .map((declaration) => {
      const [name = '', ...rest] = declaration.split(':')
      return { name: name.trim(), value: rest.join(':').replace('!important', '').trim() }
    })

/** Null: the value does not change the mark. */
function isBold(value: string): boolean | null {
  if (/^\d+$/.test(value)) return Number(value) >= boldMin
  if (value === 'bold' || value === 'bolder') return true
  return value === 'normal' || value === 'lighter' ? false : null
}

function isItalic(value: string): boolean | null {
  if (/^(?:italic|oblique)\b/.test(value)) return true
  return value === 'normal' ? false : null
}

function isDecorated(value: string, line: string): boolean | null {
  if (value.split(/\s+/).includes(line)) return true
  return value === 'none' ? false : null
}

function isRaised(value: string, place: string): boolean | null {
  if (value === place) return true
  return value === 'baseline' ? false : null
}
