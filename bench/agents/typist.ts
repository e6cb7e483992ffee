import * as Y from 'yjs'
import type { Keystroke } from './keystrokes.ts'

/** A user who types at a caret in a text. */
export class Typist {
  readonly editor: Y.Doc
  /** Clocks of the typed characters that the user has not deleted. */
  readonly clocks: number[] = []
  #caret: Y.RelativePosition
  readonly #keystrokes: Iterator<Keystroke>

  constructor(editor: Y.Doc, caret: Y.RelativePosition, keystrokes: Iterable<Keystroke>) {
    this.editor = editor
    this.#caret = caret
    this.#keystrokes = keystrokes[Symbol.iterator]()
  }

  /** Types the next keystrokes. Types nothing if the text of the caret does not exist any more. */
  type(count: number): void {
    for (let typed = 0; typed < count; typed += 1) {
      const { value, done } = this.#keystrokes.next()
      if (done === true) throw new Error('the recorded stretch is too short')
      this.#press(value)
    }
  }

  #press(keystroke: Keystroke): void {
    const { editor } = this
    const place = Y.createAbsolutePositionFromRelativePosition(this.#caret, editor)
    if (!(place?.type instanceof Y.Text) || isGone(place.type)) return
    const { type: text, index } = place
    if (keystroke === null) {
      if (!this.#isOwn(text, index - 1)) return
      this.clocks.pop()
      text.delete(index - 1, 1)
      return
    }
    const clock = Y.getState(editor.store, editor.clientID)
    text.insert(index, keystroke)
    this.clocks.push(...Array.from(keystroke.split(''), (_unit, offset) => clock + offset))
    this.#caret = Y.createRelativePositionFromTypeIndex(text, index + keystroke.length)
  }

  /** Returns whether the character at an index is the last one that this user has typed. */
  #isOwn(text: Y.Text, index: number): boolean {
    if (index < 0) return false
    const { item } = Y.createRelativePositionFromTypeIndex(text, index)
    return item?.client === this.editor.clientID && item.clock === this.clocks.at(-1)
  }
}

/** Returns whether an element or a text, or one of its parents, was deleted. */
function isGone(type: Y.Text): boolean {
  for (let item = type._item; item !== null; item = (item.parent as Y.XmlElement)._item)
    if (item.deleted) return true
  return false
}
