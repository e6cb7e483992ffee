/**
 * Path of the playground page. The part of an address after `#` contains the identity of the window. The page
 * removes this part immediately.
 */
export const playgroundPath = '/console/playground'

/**
 * Opens the playground in a new tab. The new tab has the credentials of the console, because the browser
 * copies the session storage of this tab.
 */
export function openPlayground(): void {
  if (window.open(playgroundPath, '_blank') === null) location.assign(playgroundPath)
}
