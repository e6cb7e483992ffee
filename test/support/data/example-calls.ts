import type { Answer, TestServer } from '../servers/server.ts'
import { makeWorld, type WorldMaker } from './openapi-example-data.ts'

export interface Content {
  readonly 'application/json': {
    readonly schema: object
    readonly examples: Readonly<Record<string, { readonly value: unknown } | undefined>>
  }
}

/** An operation in the form in which `/openapi.json` describes it. */
export interface Described {
  readonly tags: readonly [string]
  readonly security: readonly [Readonly<Record<string, readonly []>>]
  readonly requestBody: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content: Content }>>
}

export interface OpenApi {
  readonly tags: readonly { readonly name: string; readonly description?: string }[]
  /** The paths of operations have a `post`. */
  readonly paths: Readonly<Record<string, { readonly post: Described }>>
  readonly components: {
    readonly securitySchemes: Readonly<
      Record<string, { readonly in?: 'header' | 'query'; readonly name?: string }>
    >
  }
}

/**
 * Calls an operation with its example. The objects of the example are created first, so that the call
 * succeeds.
 * @param worldFor creates the objects; default: all objects are new
 */
export async function callExample(
  { post }: Pick<TestServer, 'post'>,
  { paths, components }: OpenApi,
  credentials: Readonly<Record<string, string>>,
  path: string,
  worldFor: WorldMaker = (called) => makeWorld({ post }, called),
): Promise<Answer> {
  const { security, requestBody } = (paths[path] as { post: Described }).post
  const { value } = requestBody.content['application/json'].examples.done as { value: { data: object } }
  const told: Record<string, string> = await worldFor(path)
  // If the body of an operation must contain credentials, adds those from the headers.
  const repeated = 'authToken' in value.data ? { ...told, ...credentials } : told
  const data = Object.entries(value.data).map(([name, shown]) => [name, repeated[name] ?? shown])
  // Headers with the credentials for the security schemes of the operation. All other credentials are ''.
  const headers = Object.entries(components.securitySchemes)
    .filter(([, scheme]) => scheme.in === 'header')
    .map(([scheme, { name }]) => [
      name,
      Object.hasOwn(security[0], scheme) ? (credentials[scheme] as string) : '',
    ])
  return post(path, Object.fromEntries(data), Object.fromEntries(headers) as Record<string, string>)
}
