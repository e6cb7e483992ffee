import { counted } from '../ui/figures.ts'

/** What a replacement or a restoration has changed, or would. */
export interface Written {
  readonly version: string
  readonly changed: boolean
  readonly bytes: number
  readonly insertions: number
  readonly deletions: number
}

/** Such as `3 units inserted, 1 unit deleted, an update of 40 bytes`. */
export const summary = ({ insertions, deletions, bytes }: Written): string =>
  `${counted(insertions, 'unit')} inserted, ${counted(deletions, 'unit')} deleted, an update of ${counted(bytes, 'byte')}`
