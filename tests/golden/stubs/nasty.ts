// Written by `mcpc stubs`: do not edit.
/**
 * A typed client for the tools of nasty server """
 * *\/ import os; os.abort() //\.
 */

/** What calls a tool: a client of `@modelcontextprotocol/client` or `@modelcontextprotocol/sdk`. */
export interface ToolCaller {
  callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<unknown>;
}

/** A tool failed; the message is its text, and `result` its whole result. */
export class ToolCallError extends Error {
  readonly result: unknown;

  constructor(message: string, result: unknown) {
    super(message);
    this.name = "ToolCallError";
    this.result = result;
  }
}

interface RawResult {
  content?: ReadonlyArray<{ type: string; text?: string }>;
  structuredContent?: unknown;
  isError?: boolean;
}

async function resultOf(client: ToolCaller, name: string, args: object): Promise<RawResult> {
  const result = (await client.callTool({ name, arguments: { ...args } })) as RawResult;
  if (result.isError) throw new ToolCallError(contentOf(result), result);
  return result;
}

async function textOf(client: ToolCaller, name: string, args: object): Promise<string> {
  return contentOf(await resultOf(client, name, args));
}

async function structuredOf(client: ToolCaller, name: string, args: object): Promise<unknown> {
  const result = await resultOf(client, name, args);
  if (result.structuredContent === undefined) throw new ToolCallError(`${name}: the result has no structured content`, result);
  return result.structuredContent;
}

function contentOf(result: RawResult): string {
  return (result.content ?? []).flatMap((block) => (block.type === "text" ? [block.text ?? ""] : [])).join("\n");
}

export interface PlainInput {
  a: string;
  /** (default 3) */
  b?: number;
}

export interface PlainOutput {
  a: string;
  /** (default 3) */
  b?: number;
}

export type NothingOutput = { [name: string]: unknown };

export type AnythingOutput = { [name: string]: unknown };

export interface AlwaysInput {
  value?: unknown;
  list?: Array<unknown>;
  object?: { [name: string]: unknown };
}

export interface AlwaysOutput {
  value?: unknown;
  list?: Array<unknown>;
  object?: { [name: string]: unknown };
}

export interface NotIdentifiersInput {
  "a-b": string;
  "1st"?: number;
  ""?: null;
  "\u00e9"?: number;
  "\ufb01"?: string;
}

export interface NotIdentifiersOutput {
  "a-b": string;
  "1st"?: number;
  ""?: null;
  "\u00e9"?: number;
  "\ufb01"?: string;
}

export interface ClassInput {
  class?: string;
  self?: string;
  None?: string;
  constructor?: unknown;
}

export interface ClassOutput {
  class?: string;
  self?: string;
  None?: string;
  constructor?: unknown;
}

export interface BuiltinsInput {
  list?: Array<string>;
  str?: string;
  int?: number;
  z?: Array<number>;
}

export interface BuiltinsOutput {
  list?: Array<string>;
  str?: string;
  int?: number;
  z?: Array<number>;
}

export interface TypingInput {
  Literal?: "a";
  NotRequired?: string;
  other?: "b";
}

export interface TypingOutput {
  Literal?: "a";
  NotRequired?: string;
  other?: "b";
}

export interface MangledInput {
  __private?: string;
  _one?: string;
  __proto__?: string;
}

export interface MangledOutput {
  __private?: string;
  _one?: string;
  __proto__?: string;
}

export interface ArgumentsInput {
  arguments?: string;
  args?: string;
  name?: string;
}

export interface ArgumentsOutput {
  arguments?: string;
  args?: string;
  name?: string;
}

export interface UnionInput {
  either?: string | number | null;
  one: UnionInputOneA | UnionInputOneB;
}

export interface UnionInputOneA {
  kind: "a";
  x?: number;
}

export interface UnionInputOneB {
  kind: "b";
}

export interface UnionOutput {
  either?: string | number | null;
  one: UnionOutputOneA | UnionOutputOneB;
}

export interface UnionOutputOneA {
  kind: "a";
  x?: number;
}

export interface UnionOutputOneB {
  kind: "b";
}

export interface NullableInput {
  text: string | null;
  items: Array<number | null> | null;
}

export interface NullableOutput {
  text: string | null;
  items: Array<number | null> | null;
}

export interface EnumsInput {
  texts?: "a" | "it's" | "\"quoted\"" | "back\\slash" | "new\nline" | "*/" | "`${x}`" | "\u2028" | "</script>";
  mixed?: "a" | 1 | null;
  flags?: true;
  large?: number;
  numbers?: number;
}

export interface EnumsOutput {
  texts?: "a" | "it's" | "\"quoted\"" | "back\\slash" | "new\nline" | "*/" | "`${x}`" | "\u2028" | "</script>";
  mixed?: "a" | 1 | null;
  flags?: true;
  large?: number;
  numbers?: number;
}

export interface TreeInput {
  label: string;
  children?: Array<TreeInput>;
}

export interface TreeOutput {
  label: string;
  children?: Array<TreeOutput>;
}

export interface JsonInput {
  value: JsonInputJson;
}

export type JsonInputJson = string | Array<JsonInputJson> | { [name: string]: JsonInputJson };

export interface JsonOutput {
  value: JsonOutputJson;
}

export type JsonOutputJson = string | Array<JsonOutputJson> | { [name: string]: JsonOutputJson };

export interface CircleInput {
  value?: unknown;
}

export interface CircleOutput {
  value?: unknown;
}

export interface CircleOfUnionsInput {
  value?: CircleOfUnionsInputA;
}

export type CircleOfUnionsInputA = unknown;

export interface CircleOfUnionsOutput {
  value?: CircleOfUnionsOutputA;
}

export type CircleOfUnionsOutputA = unknown;

export interface MutualInput {
  start?: MutualInputOne;
}

export interface MutualInputOne {
  other?: MutualInputTwo;
}

export interface MutualInputTwo {
  one: MutualInputOne;
}

export interface MutualOutput {
  start?: MutualOutputOne;
}

export interface MutualOutputOne {
  other?: MutualOutputTwo;
}

export interface MutualOutputTwo {
  one: MutualOutputOne;
}

export interface MapsInput {
  counts?: { [name: string]: number };
  deep?: { [name: string]: { [name: string]: Array<string> } };
}

export interface MapsOutput {
  counts?: { [name: string]: number };
  deep?: { [name: string]: { [name: string]: Array<string> } };
}

export interface ExtrasInput {
  id: string;
  /** Other members are allowed. */
  [name: string]: unknown;
}

export interface ExtrasOutput {
  id: string;
  /** Other members are allowed. */
  [name: string]: unknown;
}

export type MapOfArgumentsInput = { [name: string]: string };

export type MapOfArgumentsOutput = { [name: string]: string };

export type PatternsInput = { [name: string]: string };

export type PatternsOutput = { [name: string]: string };

export interface TuplesInput {
  /** (minItems 2) */
  pair?: [string, number];
  open?: Array<string | number>;
  short?: [(string)?, (boolean)?];
}

export interface TuplesOutput {
  /** (minItems 2) */
  pair?: [string, number];
  open?: Array<string | number>;
  short?: [(string)?, (boolean)?];
}

export interface AllOfInput {
  a: string;
  b?: number;
}

export interface AllOfOutput {
  a: string;
  b?: number;
}

export interface RootUnionInput1 {
  a: string;
}

export interface RootUnionInput2 {
  b: string;
}

export type RootUnionInput = RootUnionInput1 | RootUnionInput2;

export interface RootUnionOutput1 {
  a: string;
}

export interface RootUnionOutput2 {
  b: string;
}

export type RootUnionOutput = RootUnionOutput1 | RootUnionOutput2;

export interface ConditionsInput {
  a?: string;
}

export interface ConditionsOutput {
  a?: string;
}

export interface LimitsInput {
  /** How many (maximum 9, minimum 1) */
  n?: number;
  /** (minLength 1) */
  t?: string;
  /** (maxItems 3, minItems 1) */
  l?: Array<string>;
}

export interface LimitsOutput {
  /** How many (maximum 9, minimum 1) */
  n?: number;
  /** (minLength 1) */
  t?: string;
  /** (maxItems 3, minItems 1) */
  l?: Array<string>;
}

/**
 * """ *\/ \ \u0041 # type: ignore
 * @ ts-ignore
 * '''
 * </script>  end\
 */
export interface TextsInput {
  /** *\/ """ # mypy: ignore-errors\ */
  a?: string;
  /** x */
  "\"\"\" */"?: string;
}

/**
 * """ *\/ \ \u0041 # type: ignore
 * @ ts-ignore
 * '''
 * </script>  end\
 */
export interface TextsOutput {
  /** *\/ """ # mypy: ignore-errors\ */
  a?: string;
  /** x */
  "\"\"\" */"?: string;
}

export interface LargeInput {
  /** (minimum -1000000000000000052504760255204420248704468581108159154915854115511802457988908195786371375080447864043704443832883878176942523235360430575644792184786706982848387200926575803737830233794788090059368953234970799945081119038967640880074652742780142494579258788820056842838115669472196386865459400540160, default 123456789012345678901234567890) */
  n?: number;
}

export interface LargeOutput {
  /** (minimum -1000000000000000052504760255204420248704468581108159154915854115511802457988908195786371375080447864043704443832883878176942523235360430575644792184786706982848387200926575803737830233794788090059368953234970799945081119038967640880074652742780142494579258788820056842838115669472196386865459400540160, default 123456789012345678901234567890) */
  n?: number;
}

export interface NamesInput {
  one?: NamesInputAB;
  two?: NamesInputAB2;
  three?: NamesInput123;
}

export interface NamesInputAB {
  x?: string;
}

export interface NamesInputAB2 {
  y?: string;
}

export interface NamesInput123 {
  z?: string;
}

export interface NamesOutput {
  one?: NamesOutputAB;
  two?: NamesOutputAB2;
  three?: NamesOutput123;
}

export interface NamesOutputAB {
  x?: string;
}

export interface NamesOutputAB2 {
  y?: string;
}

export interface NamesOutput123 {
  z?: string;
}

export interface ImpossibleInput {
  never?: unknown;
  none?: unknown;
}

export interface ImpossibleOutput {
  never?: unknown;
  none?: unknown;
}

export interface MissingInput {
  gone?: unknown;
}

export interface MissingOutput {
  gone?: unknown;
}

/** The tools of nasty server; every method throws a ToolCallError where the tool fails. */
export class NastyServerClient {
  readonly #client: ToolCaller;

  constructor(client: ToolCaller) {
    this.#client = client;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async plain(args: PlainInput): Promise<PlainOutput> {
    return await structuredOf(this.#client, "plain", args) as PlainOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async nothing(): Promise<NothingOutput> {
    return await structuredOf(this.#client, "nothing", {}) as NothingOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async anything(args: Record<string, unknown> = {}): Promise<AnythingOutput> {
    return await structuredOf(this.#client, "anything", args) as AnythingOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async always(args: AlwaysInput = {}): Promise<AlwaysOutput> {
    return await structuredOf(this.#client, "always", args) as AlwaysOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async not_identifiers(args: NotIdentifiersInput): Promise<NotIdentifiersOutput> {
    return await structuredOf(this.#client, "not identifiers", args) as NotIdentifiersOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async class(args: ClassInput = {}): Promise<ClassOutput> {
    return await structuredOf(this.#client, "class", args) as ClassOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async builtins(args: BuiltinsInput = {}): Promise<BuiltinsOutput> {
    return await structuredOf(this.#client, "builtins", args) as BuiltinsOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async typing(args: TypingInput = {}): Promise<TypingOutput> {
    return await structuredOf(this.#client, "typing", args) as TypingOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async mangled(args: MangledInput = {}): Promise<MangledOutput> {
    return await structuredOf(this.#client, "mangled", args) as MangledOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async arguments(args: ArgumentsInput = {}): Promise<ArgumentsOutput> {
    return await structuredOf(this.#client, "arguments", args) as ArgumentsOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async union(args: UnionInput): Promise<UnionOutput> {
    return await structuredOf(this.#client, "union", args) as UnionOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async nullable(args: NullableInput): Promise<NullableOutput> {
    return await structuredOf(this.#client, "nullable", args) as NullableOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async enums(args: EnumsInput = {}): Promise<EnumsOutput> {
    return await structuredOf(this.#client, "enums", args) as EnumsOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async tree(args: TreeInput): Promise<TreeOutput> {
    return await structuredOf(this.#client, "tree", args) as TreeOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async json(args: JsonInput): Promise<JsonOutput> {
    return await structuredOf(this.#client, "json", args) as JsonOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async circle(args: CircleInput = {}): Promise<CircleOutput> {
    return await structuredOf(this.#client, "circle", args) as CircleOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async circle_of_unions(args: CircleOfUnionsInput = {}): Promise<CircleOfUnionsOutput> {
    return await structuredOf(this.#client, "circle of unions", args) as CircleOfUnionsOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async mutual(args: MutualInput = {}): Promise<MutualOutput> {
    return await structuredOf(this.#client, "mutual", args) as MutualOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async maps(args: MapsInput = {}): Promise<MapsOutput> {
    return await structuredOf(this.#client, "maps", args) as MapsOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async extras(args: ExtrasInput): Promise<ExtrasOutput> {
    return await structuredOf(this.#client, "extras", args) as ExtrasOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async map_of_arguments(args: MapOfArgumentsInput = {}): Promise<MapOfArgumentsOutput> {
    return await structuredOf(this.#client, "map of arguments", args) as MapOfArgumentsOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async patterns(args: PatternsInput = {}): Promise<PatternsOutput> {
    return await structuredOf(this.#client, "patterns", args) as PatternsOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async tuples(args: TuplesInput = {}): Promise<TuplesOutput> {
    return await structuredOf(this.#client, "tuples", args) as TuplesOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async all_of(args: AllOfInput): Promise<AllOfOutput> {
    return await structuredOf(this.#client, "all of", args) as AllOfOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async root_union(args: RootUnionInput): Promise<RootUnionOutput> {
    return await structuredOf(this.#client, "root union", args) as RootUnionOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async conditions(args: ConditionsInput = {}): Promise<ConditionsOutput> {
    return await structuredOf(this.#client, "conditions", args) as ConditionsOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async limits(args: LimitsInput = {}): Promise<LimitsOutput> {
    return await structuredOf(this.#client, "limits", args) as LimitsOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async texts(args: TextsInput = {}): Promise<TextsOutput> {
    return await structuredOf(this.#client, "texts", args) as TextsOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async large(args: LargeInput = {}): Promise<LargeOutput> {
    return await structuredOf(this.#client, "large", args) as LargeOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async names(args: NamesInput = {}): Promise<NamesOutput> {
    return await structuredOf(this.#client, "names", args) as NamesOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async impossible(args: ImpossibleInput = {}): Promise<ImpossibleOutput> {
    return await structuredOf(this.#client, "impossible", args) as ImpossibleOutput;
  }

  /**
   * """
   * *\/ import os; os.abort() //\
   */
  async missing(args: MissingInput = {}): Promise<MissingOutput> {
    return await structuredOf(this.#client, "missing", args) as MissingOutput;
  }

  async get_file_2(args: Record<string, unknown> = {}): Promise<string> {
    return await textOf(this.#client, "get-file", args);
  }

  async get_file(args: Record<string, unknown> = {}): Promise<string> {
    return await textOf(this.#client, "get_file", args);
  }

  async get_file_3(args: Record<string, unknown> = {}): Promise<string> {
    return await textOf(this.#client, "get.file", args);
  }

  async return(args: Record<string, unknown> = {}): Promise<string> {
    return await textOf(this.#client, "return", args);
  }

  async list(args: Record<string, unknown> = {}): Promise<string> {
    return await textOf(this.#client, "list", args);
  }

  async str(args: Record<string, unknown> = {}): Promise<string> {
    return await textOf(this.#client, "str", args);
  }

  async then_(args: Record<string, unknown> = {}): Promise<string> {
    return await textOf(this.#client, "then", args);
  }

  async constructor_(args: Record<string, unknown> = {}): Promise<string> {
    return await textOf(this.#client, "constructor", args);
  }

  async prototype_(args: Record<string, unknown> = {}): Promise<string> {
    return await textOf(this.#client, "prototype", args);
  }

  async __init__(args: Record<string, unknown> = {}): Promise<string> {
    return await textOf(this.#client, "__init__", args);
  }

  async tool_1st(args: Record<string, unknown> = {}): Promise<string> {
    return await textOf(this.#client, "1st", args);
  }

  async _text(args: Record<string, unknown> = {}): Promise<string> {
    return await textOf(this.#client, "_text", args);
  }

  async Mapping(args: Record<string, unknown> = {}): Promise<string> {
    return await textOf(this.#client, "Mapping", args);
  }

  async proto(args: Record<string, unknown> = {}): Promise<string> {
    return await textOf(this.#client, "__proto__", args);
  }
}
