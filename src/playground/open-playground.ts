/**
 * The address of the playground. The part after `#` has the identity of the window, which the page removes at once.
 */
export const playgroundPath = '/console/playground'

/** Opens the playground beside the console: it has the credentials of the console, as they are the tab's. */
export function openPlayground(): void {
  if (window.open(playgroundPath, '_blank') === null) location.assign(playgroundPath)
}
