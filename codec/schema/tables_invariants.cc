// Made by tools/generate_schema from the definitions of FHIR R4 (4.0.1); not to be edited.

#include "codec/schema/tables.h"

// clang-format off
#pragma clang diagnostic ignored "-Woverlength-strings"

namespace annals::schema::tables {

const char kInvariantText[] =
"adf-0name.matches('[A-Z]([A-Za-z0-9_]){0,254}')age-1(code.exists() or value.empty()) and (system.empty() or system = %uc"
"um) and (value.empty() or value.hasValue().not() or value > 0)ait-1verificationStatus.coding.where(system = 'http://term"
"inology.hl7.org/CodeSystem/allergyintolerance-verification' and code = 'entered-in-error').exists() or clinicalStatus.ex"
"ists()ait-2verificationStatus.coding.where(system = 'http://terminology.hl7.org/CodeSystem/allergyintolerance-verificati"
"on' and code = 'entered-in-error').empty() or clinicalStatus.empty()app-1type.exists() or actor.exists()app-2start.exist"
"s() = end.exists()app-3(start.exists() and end.exists()) or (status in ('proposed' | 'cancelled' | 'waitlist'))app-4Appo"
"intment.cancelationReason.exists() implies (Appointment.status='no-show' or Appointment.status='cancelled')apr-1particip"
"antType.exists() or actor.exists()att-1data.empty() or contentType.exists()bdl-1total.empty() or (type = 'searchset') or"
" (type = 'history')bdl-10type = 'document' implies (timestamp.hasValue())bdl-11type = 'document' implies entry.first().r"
"esource.is(Composition)bdl-12type = 'message' implies entry.first().resource.is(MessageHeader)bdl-2entry.search.empty() "
"or (type = 'searchset')bdl-3entry.all(request.exists() = (%resource.type = 'batch' or %resource.type = 'transaction' or "
"%resource.type = 'history'))bdl-4entry.all(response.exists() = (%resource.type = 'batch-response' or %resource.type = 't"
"ransaction-response' or %resource.type = 'history'))bdl-5resource.exists() or request.exists() or response.exists()bdl-7"
"(type = 'history') or entry.where(fullUrl.exists()).select(fullUrl&resource.meta.versionId).isDistinct()bdl-8fullUrl.con"
"tains('/_history/').not()bdl-9type = 'document' implies (identifier.system.exists() and identifier.value.exists())ces-1c"
"ategory.exists() xor productOrService.exists()cid-0cmd-0cmd-1comment.exists() or equivalence.empty() or ((equivalence !="
" 'narrower') and (equivalence != 'inexact'))cmd-2(mode = 'fixed') implies code.exists()cmd-3(mode = 'other-map') implies"
" url.exists()cmp-1text.exists() or entry.exists() or section.exists()cmp-2emptyReason.empty() or entry.empty()cnt-3(code"
".exists() or value.empty()) and (system.empty() or system = %ucum) and (code.empty() or code = '1') and (value.empty() o"
"r value.hasValue().not() or value.toString().contains('.').not())con-1summary.exists() or assessment.exists()con-2code.e"
"xists() or detail.exists()con-3clinicalStatus.exists() or verificationStatus.coding.where(system='http://terminology.hl7"
".org/CodeSystem/condition-ver-status' and code = 'entered-in-error').exists() or category.select($this='problem-list-ite"
"m').empty()con-4abatement.empty() or clinicalStatus.coding.where(system='http://terminology.hl7.org/CodeSystem/condition"
"-clinical' and (code='resolved' or code='remission' or code='inactive')).exists()con-5verificationStatus.coding.where(sy"
"stem='http://terminology.hl7.org/CodeSystem/condition-ver-status' and code='entered-in-error').empty() or clinicalStatus"
".empty()cpb-0cpb-1rest.exists() or messaging.exists() or document.exists()cpb-12searchParam.select(name).isDistinct()cpb"
"-14(kind != 'instance') or implementation.exists()cpb-15(kind != 'capability') or (implementation.exists().not() and sof"
"tware.exists())cpb-16(kind!='requirements') or (implementation.exists().not() and software.exists().not())cpb-2(descript"
"ion.count() + software.count() + implementation.count()) > 0cpb-3messaging.endpoint.empty() or kind = 'instance'cpb-7doc"
"ument.select(profile&mode).isDistinct()cpb-9resource.select(type).isDistinct()cpd-0cpl-3detail.empty() or reference.empt"
"y()cpt-2value.empty() or system.exists()csd-0csd-1concept.code.combine($this.descendants().concept.code).isDistinct()ctm"
"-1onBehalfOf.exists() implies (member.resolve().iif(empty(), true, ofType(Practitioner).exists()))dis-1(code.exists() or"
" value.empty()) and (system.empty() or system = %ucum)dom-2contained.contained.empty()dom-3contained.where((('#'+id in ("
"%resource.descendants().reference | %resource.descendants().as(canonical) | %resource.descendants().as(uri) | %resource."
"descendants().as(url))) or descendants().where(reference = '#').exists() or descendants().where(as(canonical) = '#').exi"
"sts() or descendants().where(as(canonical) = '#').exists()).not()).trace('unmatched', id).empty()dom-4contained.meta.ver"
"sionId.empty() and contained.meta.lastUpdated.empty()dom-5contained.meta.security.empty()dom-6text.`div`.exists()drq-1pa"
"th.exists() xor searchParam.exists()drq-2drt-1code.exists() implies ((system = %ucum) and value.exists())ees-0eld-1discr"
"iminator.exists() or description.exists()eld-11binding.empty() or type.code.empty() or type.select((code = 'code') or (c"
"ode = 'Coding') or (code='CodeableConcept') or (code = 'Quantity') or (code = 'string') or (code = 'uri')).exists()eld-1"
"2valueSet.exists() implies (valueSet.startsWith('http:') or valueSet.startsWith('https') or valueSet.startsWith('urn:'))"
"eld-13type.select(code).isDistinct()eld-14constraint.select(key).isDistinct()eld-15defaultValue.empty() or meaningWhenMi"
"ssing.empty()eld-16sliceName.empty() or sliceName.matches('^[a-zA-Z0-9\\\\/\\\\-_\\\\[\\\\]\\\\@]+$')eld-17(code='Reference' or co"
"de = 'canonical') or targetProfile.empty()eld-18(isModifier.exists() and isModifier) implies isModifierReason.exists()el"
"d-19path.matches('[^\\\\s\\\\.,:;\\\\\\'\"\\\\/|\?!@#$%&*()\\\\[\\\\]{}]{1,64}(\\\\.[^\\\\s\\\\.,:;\\\\\\'\"\\\\/|\?!@#$%&*()\\\\[\\\\]{}]{1,64}(\\\\[x\\\\]"
")\?(\\\\:[^\\\\s\\\\.]+)\?)*')eld-2min.empty() or max.empty() or (max = '*') or iif(max != '*', min <= max.toInteger())eld-20pat"
"h.matches('[A-Za-z][A-Za-z0-9]*(\\\\.[a-z][A-Za-z0-9]*(\\\\[x])\?)*')eld-21expression.exists()eld-22sliceIsConstraining.exist"
"s() implies sliceName.exists()eld-3empty() or ($this = '*') or (toInteger() >= 0)eld-4aggregation.empty() or (code = 'Re"
"ference') or (code = 'canonical')eld-5contentReference.empty() or (type.empty() and defaultValue.empty() and fixed.empty"
"() and pattern.empty() and example.empty() and minValue.empty() and maxValue.empty() and maxLength.empty() and binding.e"
"mpty())eld-6fixed.empty() or (type.count()  <= 1)eld-7pattern.empty() or (type.count() <= 1)eld-8pattern.empty() or fixe"
"d.empty()ele-1hasValue() or (children().count() > id.count())esc-0evd-0evi-0evv-0exp-1expression.exists() or reference.e"
"xists()ext-1extension.exists() != value.exists()fhs-1age.empty() or born.empty()fhs-2age.exists() or estimatedAge.empty("
")gdf-0gol-1(detail.exists() and measure.exists()) or detail.exists().not()grp-1member.empty() or (actual = true)ig-0ig-1"
"resource.groupingId.all(%context.grouping.id contains $this)ig-2definition.resource.fhirVersion.all(%context.fhirVersion"
" contains $this)imm-1documentType.exists() or reference.exists()imr-1vaccineCode.exists() or targetDisease.exists()inv-1"
"(part.exists() and value.empty() and resource.empty()) or (part.empty() and (value.exists() xor resource.exists()))lastM"
"odified.exists().not() or authoredOn.exists().not() or lastModified >= authoredOnoperation.exists() xor assert.exists()i"
"nv-2ipn-1(identifier.count() + name.count()) > 0lib-0lnk-1item.count()>1lst-1lst-2mode = 'changes' or entry.deleted.empt"
"y()lst-3mode = 'working' or entry.date.empty()mad-1dose.exists() or rate.exists()md-1max='*' or (max.toInteger() > 0)mdd"
"-1whenHandedOver.empty() or whenPrepared.empty() or whenHandedOver >= whenPreparedmea-0mea-1group.stratifier.all((code |"
" description | criteria).exists() xor component.exists())mrp-1(type != 'data-collection') or group.exists().not()mrp-2gr"
"oup.stratifier.stratum.all(value.exists() xor component.exists())msd-0msq-3coordinateSystem = 1 or coordinateSystem = 0m"
"sq-5(chromosome.empty() and genomeBuild.empty()) or (chromosome.exists() and genomeBuild.exists())msq-6(genomeBuild.coun"
"t()+referenceSeqId.count()+ referenceSeqPointer.count()+ referenceSeqString.count()) = 1nor-1oralDiet.exists() or supple"
"ment.exists() or enteralFormula.exists()nsd-0nsd-1kind != 'root' or uniqueId.all(type != 'uuid')nsd-2uniqueId.where(pref"
"erred = true).select(type).isDistinct()obs-3low.exists() or high.exists() or text.exists()obs-6dataAbsentReason.empty() "
"or value.empty()obs-7value.empty() or component.code.where(coding.intersect(%resource.code.coding).exists()).empty()opd-"
"0opd-1type.exists() or part.exists()opd-2searchType.exists() implies type = 'string'opd-3targetProfile.exists() implies "
"(type = 'Reference' or type = 'canonical')org-1org-2where(use = 'home').empty()org-3pat-1name.exists() or telecom.exists"
"() or address.exists() or organization.exists()pdf-0per-1start.hasValue().not() or end.hasValue().not() or (start <= end"
")ppc-1policy.exists() or policyRule.exists()ppc-2patient.exists() or scope.coding.where(system='something' and code='pat"
"ient-privacy').exists().not()ppc-3patient.exists() or scope.coding.where(system='something' and code='research').exists("
").not()ppc-4patient.exists() or scope.coding.where(system='something' and code='adr').exists().not()ppc-5patient.exists("
") or scope.coding.where(system='something' and code='treatment').exists().not()prr-1orderDetail.empty() or code.exists()"
"qrs-1(answer.exists() and item.exists()).not()qty-3code.empty() or system.exists()que-0que-1(type='group' implies item.e"
"mpty().not()) and (type.trace('type')='display' implies item.trace('item').empty())que-10(type in ('boolean' | 'decimal'"
" | 'integer' | 'string' | 'text' | 'url' | 'open-choice')) or maxLength.empty()que-11answerOption.empty() or initial.emp"
"ty()que-12enableWhen.count() > 2 implies enableBehavior.exists()que-13repeats=true or initial.count() <= 1que-2descendan"
"ts().linkId.isDistinct()que-3type!='display' or code.empty()que-4answerOption.empty() or answerValueSet.empty()que-5(typ"
"e ='choice' or type = 'open-choice' or type = 'decimal' or type = 'integer' or type = 'date' or type = 'dateTime' or typ"
"e = 'time' or type = 'string' or type = 'quantity') or (answerValueSet.empty() and answerOption.empty())que-6type!='disp"
"lay' or (required.empty() and repeats.empty())que-7operator = 'exists' implies (answer is Boolean)que-8(type!='group' an"
"d type!='display') or initial.empty()que-9type!='display' or readOnly.empty()ras-1(low.empty() or ((low.code = '%') and "
"(low.system = %ucum))) and (high.empty() or ((high.code = '%') and (high.system = %ucum)))ras-2probability is decimal im"
"plies (probability as decimal) <= 100rat-1(numerator.empty() xor denominator.exists()) and (numerator.exists() or extens"
"ion.exists())red-0ref-1reference.startsWith('#').not() or (reference.substring(1).trace('url') in %rootResource.containe"
"d.id.trace('ids'))rng-2low.empty() or high.empty() or (low <= high)rqg-1resource.exists() != action.exists()rsd-0rvs-0sd"
"f-0sdf-1derivation = 'constraint' or snapshot.element.select(path).isDistinct()sdf-10binding.empty() or binding.valueSet"
".exists() or binding.description.exists()sdf-11kind != 'logical' implies snapshot.empty() or snapshot.element.first().pa"
"th = typesdf-14snapshot.element.all(id.exists()) and differential.element.all(id.exists())sdf-15kind!='logical' implies "
"snapshot.element.first().type.empty()sdf-15a(kind!='logical'  and differential.element.first().path.contains('.').not())"
" implies differential.element.first().type.empty()sdf-16snapshot.element.all(id.exists()) and snapshot.element.id.trace("
"'ids').isDistinct()sdf-17differential.element.all(id.exists()) and differential.element.id.trace('ids').isDistinct()sdf-"
"18contextInvariant.exists() implies type = 'Extension'sdf-19url.startsWith('http://hl7.org/fhir/StructureDefinition') im"
"plies (differential.element.type.code.all(matches('^[a-zA-Z0-9]+$') or matches('^http:\\\\/\\\\/hl7\\\\.org\\\\/fhirpath\\\\/Syste"
"m\\\\.[A-Z][A-Za-z]+$')) and snapshot.element.type.code.all(matches('^[a-zA-Z0-9\\\\.]+$') or matches('^http:\\\\/\\\\/hl7\\\\.org"
"\\\\/fhirpath\\\\/System\\\\.[A-Z][A-Za-z]+$')))sdf-2name.exists() or uri.exists()sdf-20element.where(path.contains('.').not()"
").slicing.empty()sdf-21differential.element.defaultValue.exists() implies (derivation = 'specialization')sdf-22url.start"
"sWith('http://hl7.org/fhir/StructureDefinition') implies (snapshot.element.defaultValue.empty() and differential.element"
".defaultValue.empty())sdf-23(snapshot | differential).element.all(path.contains('.').not() implies sliceName.empty())sdf"
"-3element.all(definition.exists() and min.exists() and max.exists())sdf-4abstract = true or baseDefinition.exists()sdf-5"
"type != 'Extension' or derivation = 'specialization' or (context.exists())sdf-6snapshot.exists() or differential.exists("
")sdf-8(%resource.kind = 'logical' or element.first().path = %resource.type) and element.tail().all(path.startsWith(%reso"
"urce.snapshot.element.first().path&'.'))sdf-8a(%resource.kind = 'logical' or element.first().path.startsWith(%resource.t"
"ype)) and (element.tail().empty() or element.tail().all(path.startsWith(%resource.differential.element.first().path.repl"
"aceMatches('\\\\..*','')&'.')))sdf-8belement.all(base.exists())sdf-9children().element.where(path.contains('.').not()).lab"
"el.empty() and children().element.where(path.contains('.').not()).code.empty() and children().element.where(path.contain"
"s('.').not()).requirements.empty()sev-1name.empty() or query.empty()smp-0smp-1element.exists() implies context.exists()s"
"mp-2context.exists() implies contextType.exists()spd-0spd-1xpath.empty() or xpathUsage.exists()spd-2chain.empty() or typ"
"e = 'reference'sqty-1comparator.empty()tcp-0tcp-1version.count() > 1 implies version.all(code.exists())tcp-2tcp-3tcp-4tc"
"p-5tim-1duration.empty() or durationUnit.exists()tim-10timeOfDay.empty() or when.empty()tim-2period.empty() or periodUni"
"t.exists()tim-4duration.exists() implies duration >= 0tim-5period.exists() implies period >= 0tim-6periodMax.empty() or "
"period.exists()tim-7durationMax.empty() or duration.exists()tim-8countMax.empty() or count.exists()tim-9offset.empty() o"
"r (when.exists() and ((when in ('C' | 'CM' | 'CD' | 'CV')).not()))trd-1data.empty() or timing.empty()trd-2condition.exis"
"ts() implies data.exists()trd-3(type = 'named-event' implies name.exists()) and (type = 'periodic' implies timing.exists"
"()) and (type.startsWith('data-') implies data.exists())tst-0tst-1tst-10compareToSourceId.empty() xor (compareToSourceEx"
"pression.exists() or compareToSourcePath.exists())tst-12(response.empty() and responseCode.empty() and direction = 'requ"
"est') or direction.empty() or direction = 'response'tst-2tst-3expression.empty() or headerField.empty() or path.empty()t"
"st-4capability.required.exists() or capability.validated.exists()tst-5extension.exists() or (contentType.count() + expre"
"ssion.count() + headerField.count() + minimumId.count() + navigationLinks.count() + path.count() + requestMethod.count()"
" + resource.count() + responseCode.count() + response.count()  + validateProfileId.count() <=1)tst-7sourceId.exists() or"
" (targetId.count() + url.count() + params.count() = 1) or (type.code in ('capabilities' |'search' | 'transaction' | 'his"
"tory'))txt-1htmlChecks()txt-2vsd-0vsd-1valueSet.exists() or system.exists()vsd-10vsd-2(concept.exists() or filter.exists"
"()) implies system.exists()vsd-3concept.empty() or filter.empty()vsd-6code.exists() or display.exists()vsd-9code.exists("
") or abstract = true"
"\0\0\0\0\0\0\0";

const InvariantRow kInvariants[] = {
{0,0,0,0,0},{0,5,42,5,0},{47,52,130,5,1},{182,187,179,5,1},{366,371,177,5,1},{548,553,31,5,1},{584,589,29,5,1},{618,623,88,5,1},{711,716,111,5,1},
{827,832,42,5,1},{874,879,36,5,1},{915,920,59,5,1},{979,985,48,6,1},{1033,1039,64,6,1},{1103,1109,65,6,1},{1174,1179,44,5,1},{1223,1228,120,5,1},
{1348,1353,139,5,1},{1492,1497,58,5,1},{1555,1560,104,5,1},{1664,1669,36,5,1},{1705,1710,84,5,1},{1794,1799,47,5,1},{1846,5,42,5,0},{1851,5,42,5,0},
{1856,1861,103,5,1},{1964,1969,38,5,1},{2007,2012,41,5,1},{2053,2058,51,5,1},{2109,2114,36,5,1},{2150,2155,190,5,1},{2345,2350,39,5,1},{2389,2394,32,5,1},
{2426,2431,220,5,0},{2651,2656,185,5,1},{2841,2846,162,5,1},{3008,5,42,5,0},{3013,3018,56,5,1},{3074,3080,37,6,1},{3117,3123,47,6,1},{3170,3176,79,6,1},
{3255,3261,85,6,1},{3346,3351,69,5,1},{3420,3425,47,5,1},{3472,3477,42,5,1},{3519,3524,34,5,1},{3558,5,42,5,0},{3563,3568,35,5,1},{3603,3608,32,5,1},
{3640,5,42,5,0},{3645,3650,67,5,1},{3717,3722,96,5,1},{3818,3823,71,5,1},{3894,3899,27,5,1},{3926,3931,366,5,1},{4297,4302,71,5,1},{4373,4378,31,5,1},
{4409,4414,19,5,0},{4433,4438,38,5,1},{4476,4438,38,5,1},{4481,4486,59,5,1},{4545,5,42,5,0},{4550,4555,46,5,1},{4601,4607,188,6,1},{4795,4801,119,6,1},
{4920,4926,30,6,1},{4956,4962,35,6,1},{4997,5003,50,6,1},{5053,5059,72,6,1},{5131,5137,65,6,1},{5202,5208,70,6,1},{5278,5284,138,6,1},{5422,5427,84,5,1},
{5511,5517,67,6,0},{5584,5590,19,6,0},{5609,5615,55,6,1},{5670,5675,46,5,1},{5721,5726,67,5,1},{5793,5798,209,5,1},{6007,6012,37,5,1},{6049,6054,38,5,1},
{6092,6097,32,5,1},{6129,6134,47,5,1},{6181,5,42,5,0},{6186,5,42,5,0},{6191,5,42,5,0},{6196,5,42,5,0},{6201,6206,41,5,1},{6247,6252,36,5,1},{6288,6293,27,5,1},
{6320,6325,36,5,1},{6361,5,42,5,0},{6366,6371,63,5,1},{6434,6439,33,5,1},{6472,5,42,4,0},{6476,6480,60,4,1},{6540,6544,72,4,1},{6616,6621,43,5,1},
{6664,6669,46,5,1},{6715,6720,115,5,1},{6715,6835,86,5,1},{6715,6921,38,5,1},{6959,6921,38,5,1},{6964,6969,39,5,1},{7008,5,42,5,0},{7013,7018,14,5,1},
{7032,2114,36,5,1},{7037,7042,41,5,1},{7083,7088,38,5,1},{7126,7131,30,5,1},{7161,7165,32,4,1},{7197,7202,80,5,1},{7282,5,42,5,0},{7287,7292,85,5,1},
{7377,7382,51,5,1},{7433,7438,67,5,1},{7505,5,42,5,0},{7510,7515,44,5,1},{7559,7564,94,5,1},{7658,7663,105,5,1},{7768,7773,67,5,0},{7840,5,42,5,0},
{7845,7850,46,5,1},{7896,7901,58,5,1},{7959,7964,46,5,1},{8010,8015,41,5,1},{8056,8061,95,5,1},{8156,5,42,5,0},{8161,8166,30,5,1},{8196,8201,43,5,1},
{8244,8249,73,5,1},{8322,6969,39,5,1},{8327,8332,27,5,1},{8359,8332,27,5,1},{8364,8369,78,5,1},{8447,5,42,5,0},{8452,8457,64,5,1},{8521,8526,38,5,1},
{8564,8569,100,5,1},{8669,8674,93,5,1},{8767,8772,88,5,1},{8860,8865,94,5,1},{8959,8964,36,5,1},{9000,9005,41,5,1},{9046,9051,31,5,1},{9082,5,42,5,0},
{9087,9092,111,5,1},{9203,9209,110,6,1},{9319,9325,39,6,1},{9364,9370,54,6,1},{9424,9430,36,6,1},{9466,9471,33,5,1},{9504,9509,31,5,1},{9540,9545,46,5,1},
{9591,9596,228,5,1},{9824,9829,57,5,1},{9886,9891,47,5,1},{9938,9943,54,5,1},{9997,10002,35,5,1},{10037,10042,128,5,1},{10170,10175,62,5,1},{10237,10242,91,5,1},
{10333,5,42,5,0},{10338,10343,115,5,1},{10458,10463,44,5,1},{10507,10512,36,5,1},{10548,5,42,5,0},{10553,5,42,5,0},{10558,5,42,5,0},{10563,10568,71,5,1},
{10639,10645,76,6,1},{10721,10727,82,6,1},{10809,10815,75,6,1},{10890,10896,61,6,1},{10957,10964,126,7,1},{11090,11096,83,6,1},{11179,11185,91,6,1},
{11276,11282,52,6,1},{11334,11340,342,6,1},{11682,11687,29,5,1},{11716,11722,55,6,1},{11777,11783,82,6,1},{11865,11871,151,6,1},{12022,12028,89,6,1},
{12117,12122,66,5,1},{12188,12193,42,5,1},{12235,12240,74,5,1},{12314,12319,42,5,1},{12361,12366,154,5,1},{12520,12526,223,6,1},{12749,12755,26,6,1},
{12781,12786,208,5,1},{12994,12999,29,5,1},{13028,5,42,5,0},{13033,13038,41,5,1},{13079,13084,45,5,1},{13129,5,42,5,0},{13134,13139,36,5,1},{13175,13180,35,5,1},
{13215,13221,18,6,1},{13239,5,42,5,0},{13244,13249,54,5,1},{13303,3351,69,5,1},{13308,3123,47,5,1},{13313,3176,79,5,1},{13318,3261,85,5,1},{13323,13328,41,5,1},
{13369,13375,33,6,1},{13408,13413,37,5,1},{13450,13455,39,5,1},{13494,13499,35,5,1},{13534,13539,36,5,1},{13575,13580,40,5,1},{13620,13625,34,5,1},
{13659,13664,82,5,1},{13746,13751,30,5,1},{13781,13786,40,5,1},{13826,13831,145,5,1},{13976,5,42,5,0},{13981,6921,38,5,1},{13986,13992,98,6,1},
{14090,14096,116,6,1},{14212,6921,38,5,1},{14217,14222,57,5,1},{14279,14284,61,5,1},{14345,14350,265,5,1},{14615,14620,147,5,1},{14767,14772,12,5,1},
{14784,14772,12,5,1},{14789,5,42,5,0},{14794,14799,36,5,1},{14835,9051,31,6,1},{14841,14846,61,5,1},{14907,14912,33,5,1},{14945,14950,33,5,1},
{14983,14988,32,5,1},
};

}  // namespace annals::schema::tables
