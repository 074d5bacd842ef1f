/** Why something from outside cannot be used, in constant words: the words of others never get into a log. */
export class Unusable extends Error {}
