/** Header of the calls of the console. Rejections of these calls are not in the list of recent requests. */
export const consoleHeader = 'x-weft-console'
