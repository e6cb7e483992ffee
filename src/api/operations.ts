import type { Operation } from './operation.ts'
import { generateToken } from './v2/auth/generate_token.ts'
import { addContent } from './v2/crdt/add.ts'
import { applyUpdate } from './v2/crdt/apply.ts'
import { deleteContent } from './v2/crdt/delete.ts'
import { getContent } from './v2/crdt/get.ts'
import { updateContent } from './v2/crdt/update.ts'

/** Every REST operation. The path of an operation's file is the path of its URL. */
export const operations: readonly Operation[] = [
  generateToken,
  addContent,
  getContent,
  updateContent,
  applyUpdate,
  deleteContent,
]
