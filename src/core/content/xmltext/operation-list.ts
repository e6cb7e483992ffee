import { type DeltaAttributes, noAttributes } from '../delta/attribute-change.ts'
import type { JsonObject } from '../json/json.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'

/** An operation for `Y.Text.applyDelta`. */
type Operation =
  | { retain: number; attributes: DeltaAttributes }
  | { insert: string | JsonObject | SharedRoot; attributes: DeltaAttributes }
  | { delete: number }

/** Operations in the order of the text. Adjacent operations are joined if possible. */
export class OperationList {
  readonly list: Operation[] = []

  insert(insert: string | JsonObject | SharedRoot, attributes: DeltaAttributes): void {
    this.list.push({ insert, attributes })
  }

  retain(length: number, change = noAttributes()): void {
    if (length === 0) return
    const last = this.list.at(-1)
    const isIdle = Object.keys(change).length === 0
    if (isIdle && last !== undefined && 'retain' in last && Object.keys(last.attributes).length === 0) {
      last.retain += length
    } else this.list.push({ retain: length, attributes: change })
  }

  delete(length: number): void {
    if (length === 0) return
    const last = this.list.at(-1)
    if (last !== undefined && 'delete' in last) last.delete += length
    else this.list.push({ delete: length })
  }
}
