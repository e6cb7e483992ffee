import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'

/**
 * Generates a unique name for a node that has no configured name. The generated name contains the host name.
 */
export const newNodeName = (): string =>
  `${hostname()
    .replace(/[^A-Za-z0-9.-]/g, '-')
    .slice(0, 100)}-${randomBytes(4).toString('hex')}`
