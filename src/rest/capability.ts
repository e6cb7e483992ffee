import type { CascadeHandler } from '../core/directory/organizations/cascade-handler.ts'
import type { UserDataSourceList } from '../core/directory/user-data/user-data-source.ts'
import type { EditListener } from '../core/events/debounce-windows.ts'
import type { Edge } from './http/operation-steps.ts'
import type { ServedRoute } from './http/served-route.ts'
import type { PathDescription } from './openapi/path-description.ts'
import type { Services } from './services.ts'

/**
 * A part of the server that plugs into the core. Its folder and its line in `list.ts` are all there is of it, except
 * for its chapter, its tests and the capabilities that need it.
 */
export interface Capability {
  readonly name: string
  /** Creates its services. Those of the core and of the capabilities before it in the list exist. */
  readonly create?: (services: Services) => Partial<Services>
  /** Deletes its data when the directory removes documents, organizations, users or groups. */
  readonly cascade?: (services: Services) => readonly CascadeHandler[]
  /** Lists and erases its data of one user. A source needs a name in `core/directory/user-data`. */
  readonly userData?: (services: Services) => Partial<UserDataSourceList>
  /** Gets the commits to documents. */
  readonly edits?: (services: Services) => readonly EditListener[]
  /** The paths that are not paths of operations. */
  readonly routes?: (services: Services, edge: Edge) => readonly ServedRoute[]
  /** Describes the routes in the OpenAPI document. */
  readonly paths?: readonly PathDescription[]
  readonly start?: (services: Services) => void
  /** Ends what need not wait for the clients, while they leave, within a time in ms. */
  readonly leave?: (services: Services, ms: number) => Promise<unknown>
  /** Ends its work, before the rooms close. */
  readonly stop?: (services: Services) => Promise<unknown>
  /** Stores what the closed rooms have left, before the store closes. */
  readonly flush?: (services: Services) => Promise<unknown>
}

/** Checks the form of a capability, and keeps its type. */
export const defineCapability = (capability: Capability): Capability => capability
