/**
 * The address of the playground. The part after `#` has the identity of the window, which the page removes at once.
 */
export const playgroundPath = '/console/playground'

/** Opens the playground next to the console. It has the credentials of the console, which belong to the tab. */
export function openPlayground(): void {
  if (window.open(playgroundPath, '_blank') === null) location.assign(playgroundPath)
}
