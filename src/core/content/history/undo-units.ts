import * as Y from 'yjs'
import { type LabeledPart, type ShownUnit, TextUnits } from '../merge/labeled-units.ts'
import { showUnit } from '../merge/merged-sequence.ts'
import { elementUnit } from '../merge/sequence-clusters.ts'
import { presentParts } from '../yjs/items.ts'
import { formOfItem } from '../yjs/sequence-content.ts'
import type { SelectedIds } from './undo-selection.ts'

/** The units of a sequence with the versions of an undo. A deleted shared type is shown without its content. */
export class UndoUnits extends TextUnits {
  readonly #store: Y.Doc['store']
  readonly #selected: SelectedIds

  constructor(parts: Iterable<LabeledPart>, { store }: Y.Doc, selected: SelectedIds) {
    super(parts)
    this.#store = store
    this.#selected = selected
  }

  hasElement(indexes: readonly number[], bits: number): boolean {
    return indexes.some((at) => this.bits[at] === bits && this.text[at] === elementUnit)
  }

  override formOf(index: number): string {
    const item = this.#itemAt(index)
    const part = { offset: this.idAt(index).clock - item.id.clock, length: 1 }
    return formOfItem(item, part, item.deleted ? this.#selected.returnedWith(item) : presentParts)
  }

  protected override showElement(index: number): ShownUnit {
    return showUnit(this.#itemAt(index), this.idAt(index))
  }

  #itemAt(index: number): Y.Item {
    const { client, clock } = this.idAt(index)
    return Y.getItem(this.#store, Y.createID(client, clock))
  }
}
