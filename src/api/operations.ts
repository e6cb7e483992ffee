import type { Operation } from './operation.ts'
import { generateToken } from './v2/auth/generate_token.ts'

/** Every REST operation. The path of an operation's file is the path of its URL. */
export const operations: readonly Operation[] = [generateToken]
