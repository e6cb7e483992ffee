/** The entry point `weft-server/suggestions`. */
export type { EndpointError, EndpointFailureCode } from '../endpoint/endpoint-request.ts'
export type { EndpointErrorCode } from '../rest/endpoint-rejection.ts'
export type { SuggestedChange, SuggestionList } from '../rest/endpoint-suggestions.ts'
export {
  type SuggestedEditor,
  type SuggestionAuthor,
  type SuggestionEvents,
  type SuggestionSource,
  SuggestionStore,
  type SuggestionsState,
} from './suggestion-store.ts'
export {
  acceptSuggestion,
  blockNoteSuggestions,
  rejectSuggestion,
  suggestionsPlugin,
  tiptapSuggestions,
} from './suggestions-plugin.ts'
