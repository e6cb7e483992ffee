import { escapeCharacters } from '../../base/text.ts'

/**
 * Characters that a reader cannot see: controls except tab and line feed, separators of lines and paragraphs, marks of
 * formats and of directions, and characters that fonts ignore. The joiners U+200C and U+200D stay, because scripts and
 * emoji need them; so do Arabic and Kaithi signs, which are visible marks of formats. One variation selector U+FE0E or
 * U+FE0F stays after a visible character.
 */
const hiddenCharacters =
  /(?!\u200D|\uFE0E|\uFE0F|[\t\n\u200C\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}])[\p{Cc}\p{Cf}\u2028\u2029\p{Default_Ignorable_Code_Point}]|(?<![^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}])(?:\uFE0E|\uFE0F)/gu

/** Replaces characters that a reader cannot see by their codes, such as `\u{202e}`. */
export const showHidden = (text: string): string =>
  escapeCharacters(text.replaceAll('\r\n', '\n'), hiddenCharacters)
