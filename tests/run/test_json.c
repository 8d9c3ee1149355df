/* test_json.c: the JSON writer: escapes, commas, numbers.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "json.h"

static char *text;
static size_t size;
static struct json j;

static void begin(void)
{
    j = json_begin(open_memstream(&text, &size));
}

/* End the value; the text must be this, newlines apart. */
static void expect(const char *want)
{
    json_end(&j);
    fclose(j.out);
    size_t n = 0;
    for (size_t i = 0; i < size; i++)
        if (text[i] != '\n')
            text[n++] = text[i];
    text[n] = '\0';
    ck_assert_str_eq(text, want);
    free(text);
}

static const struct {
    const char *bytes, *json;
} texts[] = {
    {"", "\"\""},
    {"a\"b\\c", "\"a\\\"b\\\\c\""},
    {"\n\t\x01\x7f", "\"\\u000a\\u0009\\u0001\\u007f\""},
    {"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
     "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\""},
    {"\xff\xc3", "\"\\ufffd\\ufffd\""},              /* no lead byte, cut off */
    {"\xc0\x80", "\"\\ufffd\\ufffd\""},              /* overlong */
    {"\xed\xa0\x80x", "\"\\ufffd\\ufffd\\ufffdx\""}, /* surrogate */
};

START_TEST(escapes)
{
    char want[128];
    begin();
    json_text(&j, "k", texts[_i].bytes);
    snprintf(want, sizeof want, "{\"k\":%s}", texts[_i].json);
    expect(want);
}
END_TEST

START_TEST(nests)
{
    begin();
    json_array(&j, "a");
    json_close(&j);
    json_object(&j, "q\"");
    json_u64(&j, "n", UINT64_MAX);
    json_bool(&j, "t", true);
    json_array(&j, "list");
    json_null(&j, NULL);
    json_text(&j, NULL, NULL);
    json_object(&j, NULL);
    expect("{\"a\":[],\"q\\\"\":{\"n\":18446744073709551615,\"t\":true,"
           "\"list\":[null,null,{}]}}");
}
END_TEST

START_TEST(numbers)
{
    begin();
    json_array(&j, "a");
    json_real(&j, NULL, 0.1);
    json_real(&j, NULL, 1e300);
    json_real(&j, NULL, 1.0 / 3);
    json_real(&j, NULL, -0.0);
    json_real(&j, NULL, (double)INFINITY);
    json_real(&j, NULL, (double)NAN);
    expect("{\"a\":[0.1,1e+300,0.3333333333333333,-0,null,null]}");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("json");
    TCase *tc = tcase_create("writer");
    tcase_add_loop_test(tc, escapes, 0, (int)(sizeof texts / sizeof texts[0]));
    tcase_add_test(tc, nests);
    tcase_add_test(tc, numbers);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
