import type { DocumentKeyspace } from './document-keyspace.ts'
import { encodeSnapshot } from './record-codec.ts'

const noChange = { at: 0, by: '' }

/**
 * Encodes the attribution of the entries up to `base`, in the layout of a snapshot. The record contains `base`,
 * so that a reader detects an attribution that a version without attribution has left.
 */
export const encodeAttributionRecord = (keys: DocumentKeyspace, base: number, bytes: Uint8Array): Buffer =>
  encodeSnapshot(keys.attribution, { seq: base, changed: noChange, bytes })
