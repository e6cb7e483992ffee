import type { DocumentAddress } from '../../model/address.ts'

/** Loads editors that do not exist from the backend of their API key. */
export interface EditorLoader {
  /**
   * Loads the content of an editor that does not exist. Does nothing if the editor exists, was deleted, is a
   * branch, or if the API key has no callback `load`.
   * @throws ApiError UNAVAILABLE (`callback/load-failed`) if the call fails and the API key rejects then; ApiError
   * ABORTED, FAILED_PRECONDITION or RESOURCE_EXHAUSTED if the document must not be written; StoreUnavailableError
   */
  ready(address: DocumentAddress): Promise<void>
}

/** For servers without callbacks. */
export const noLoader: EditorLoader = { ready: () => Promise.resolve() }
